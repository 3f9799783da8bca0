/**
 * Attributes waits to their causes: turns spans of all threads into batches, data stalls, steps and
 * epochs, and their events. Does not itself record or keep histograms: other classes receive the
 * events ({@link io.coordl.telemetry.event.EventSink}) and the {@link
 * io.coordl.telemetry.attribution.Durations}.
 */
@NullMarked
package io.coordl.telemetry.attribution;

import org.jspecify.annotations.NullMarked;
