/**
 * JMH benchmarks of single calls, each with a baseline such as the plain call or a plain copy; also
 * the programs that {@link io.coordl.benchmarks.ReportBenchmark} runs. This package calls the
 * runtime directly, because a single call is too short to measure from outside a process. It uses
 * none of the examples.
 */
@NullMarked
package io.coordl.benchmarks.micro;

import org.jspecify.annotations.NullMarked;
