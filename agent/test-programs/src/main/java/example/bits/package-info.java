/** Checksums of array contents, to compare two runs to the bit. */
package example.bits;
