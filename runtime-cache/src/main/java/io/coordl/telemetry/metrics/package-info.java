/**
 * Exports the totals of a running job to other systems: Prometheus, OpenTelemetry, Kubeflow. The
 * fields of the events declare the names ({@link io.coordl.telemetry.event.Metric}). Prometheus'
 * client and OpenTelemetry's SDK format the metrics. The agent uses its own server and client,
 * because those of the two libraries set system properties, start threads that the program can
 * interrupt, and log. Nothing here is loaded unless an argument requests it.
 */
@NullMarked
package io.coordl.telemetry.metrics;

import org.jspecify.annotations.NullMarked;
