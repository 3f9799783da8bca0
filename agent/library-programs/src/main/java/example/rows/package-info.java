/** The data set of the training loops, which belongs to no library. */
package example.rows;
