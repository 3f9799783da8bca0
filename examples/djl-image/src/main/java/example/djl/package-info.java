/** An ordinary DJL training program, as its user would write it. Imports nothing of CoorDL. */
package example.djl;
