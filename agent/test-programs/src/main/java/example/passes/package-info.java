/** Ways in which a user iterates over a DJL data set. */
package example.passes;
