/** An ordinary DL4J training program, as its user would write it. Imports nothing from CoorDL. */
package example.dl4j;
