/** What arrays hold, so that two runs can be compared to the bit. */
package example.bits;
