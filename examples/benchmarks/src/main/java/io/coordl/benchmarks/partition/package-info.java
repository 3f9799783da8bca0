/**
 * The two sides of {@link io.coordl.benchmarks.PartitionBenchmark}, each a JVM of its own: one has
 * the items, the other gets them, by one way or another. Nothing else may use these.
 */
@NullMarked
package io.coordl.benchmarks.partition;

import org.jspecify.annotations.NullMarked;
