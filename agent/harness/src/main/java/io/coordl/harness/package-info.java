/**
 * Starts real JVMs with the packaged agent: finds what the build has made, runs programs as child
 * processes, and reads what they print and record. For end-to-end tests and benchmarks; imports
 * nothing of the product.
 */
@NullMarked
package io.coordl.harness;

import org.jspecify.annotations.NullMarked;
