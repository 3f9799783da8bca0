/** Checksums of array contents, to compare two runs bit for bit. */
package example.bits;
