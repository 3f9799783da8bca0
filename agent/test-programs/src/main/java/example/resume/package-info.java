/** Jobs that can be halted and resumed. */
package example.resume;
