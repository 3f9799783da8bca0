/** A training loop on JavaCPP's PyTorch, as an ordinary user writes it. */
package example.pytorch;
