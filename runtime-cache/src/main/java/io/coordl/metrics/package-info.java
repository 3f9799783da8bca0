/**
 * The totals of a running job for other systems: Prometheus, OpenTelemetry, Kubeflow. What they are
 * called is declared at the fields of the events ({@link io.coordl.event.Metric}). Prometheus'
 * client and OpenTelemetry's SDK give them their form; what listens and sends is the agent's, since
 * theirs sets system properties, starts threads that the program can interrupt, and logs. Nothing
 * here is loaded unless an argument asks for it.
 */
@NullMarked
package io.coordl.metrics;

import org.jspecify.annotations.NullMarked;
