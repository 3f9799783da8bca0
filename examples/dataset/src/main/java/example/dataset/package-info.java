/** Writes data sets of real JPEG files. Uses nothing but the JDK; imports nothing from CoorDL. */
package example.dataset;
