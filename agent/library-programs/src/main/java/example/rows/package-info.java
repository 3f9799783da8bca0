/** The data set of the training loops; it needs no library. */
package example.rows;
