/** An ordinary DL4J training program for Spark. Imports nothing from CoorDL. */
package example.spark;
