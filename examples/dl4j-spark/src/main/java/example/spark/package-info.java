/** An ordinary DL4J training program for Spark. Imports nothing of CoorDL. */
package example.spark;
