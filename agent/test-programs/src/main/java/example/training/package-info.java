/** Ordinary training programs with both libraries, on different data and with different loops. */
package example.training;
