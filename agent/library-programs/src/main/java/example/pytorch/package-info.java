/** A training loop on JavaCPP's PyTorch, as an ordinary user would write it. */
package example.pytorch;
