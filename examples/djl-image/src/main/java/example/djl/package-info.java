/** An ordinary DJL training program, as its user would write it. Imports nothing from CoorDL. */
package example.djl;
