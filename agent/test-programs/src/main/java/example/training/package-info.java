/** Ordinary DJL and DL4J training programs, on different data and with different loops. */
package example.training;
