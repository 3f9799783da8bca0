/**
 * Attributes waits to their causes: turns spans of all threads into batches, data stalls, steps and
 * epochs, and their events. Does not access files, record or keep histograms; the classes that do
 * so listen to {@link io.coordl.telemetry.attribution.Durations}.
 */
@NullMarked
package io.coordl.telemetry.attribution;

import org.jspecify.annotations.NullMarked;
