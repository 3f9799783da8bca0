/** Ways in which a user goes over a DJL data set. */
package example.passes;
