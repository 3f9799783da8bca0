/** Data sets whose samples are the same every time, and some that only seem so. */
package example.prepared;
