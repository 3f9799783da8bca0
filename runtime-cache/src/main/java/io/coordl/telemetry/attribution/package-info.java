/**
 * Attributes waits to their causes: turns spans of all threads into batches, data stalls, steps and
 * epochs, and their events. No file access, no recording, no histograms: these listen to {@link
 * io.coordl.telemetry.attribution.Durations}.
 */
@NullMarked
package io.coordl.telemetry.attribution;

import org.jspecify.annotations.NullMarked;
