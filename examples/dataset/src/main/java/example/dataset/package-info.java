/** Writes data sets of real JPEG files. Uses nothing but the JDK; imports nothing of CoorDL. */
package example.dataset;
