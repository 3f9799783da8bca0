/**
 * Starts the examples as child processes, with and without the agent, and compares the results,
 * which come from the example's own log, from outside the JVM, or from {@code coordl summary
 * --json}. Only {@link io.coordl.benchmarks.MembershipCost} and the packages {@code micro} and
 * {@code partition} import the agent's classes, to measure them directly.
 */
@NullMarked
package io.coordl.benchmarks;

import org.jspecify.annotations.NullMarked;
