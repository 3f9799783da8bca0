/** A hyper-parameter search on one host. Uses nothing but the JDK; imports nothing from CoorDL. */
package example.search;
