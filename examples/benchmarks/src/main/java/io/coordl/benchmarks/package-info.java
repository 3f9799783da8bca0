/**
 * Starts the examples as child processes, with and without the agent, and compares what they did.
 * Imports nothing of CoorDL: what it knows of a run comes from the example's own log, from outside
 * the JVM, or from {@code coordl summary --json}.
 */
@NullMarked
package io.coordl.benchmarks;

import org.jspecify.annotations.NullMarked;
