/**
 * The two sides of {@link io.coordl.benchmarks.PartitionBenchmark}, each in its own JVM: one has
 * the items, the other gets them over one of the transports. Only that benchmark may use this
 * package.
 */
@NullMarked
package io.coordl.benchmarks.partition;

import org.jspecify.annotations.NullMarked;
