/** Data sets whose samples are the same each time, and some that only look so. */
package example.prepared;
