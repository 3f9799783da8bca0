/**
 * The totals of a running job for other systems: Prometheus, OpenTelemetry, Kubeflow. What they are
 * called is declared at the fields of the events ({@link io.coordl.event.Metric}). Nothing here is
 * loaded unless an argument asks for it.
 */
@NullMarked
package io.coordl.metrics;

import org.jspecify.annotations.NullMarked;
