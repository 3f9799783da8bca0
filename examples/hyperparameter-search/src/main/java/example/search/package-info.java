/** A hyper-parameter search on one host. Uses nothing but the JDK; imports nothing of CoorDL. */
package example.search;
