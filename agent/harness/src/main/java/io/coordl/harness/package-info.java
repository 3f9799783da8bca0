/**
 * Starts real JVMs with the packaged agent: finds the build's artifacts, runs programs as child
 * processes, and reads their output and recordings. For end-to-end tests and benchmarks; depends on
 * no product code.
 */
@NullMarked
package io.coordl.harness;

import org.jspecify.annotations.NullMarked;
