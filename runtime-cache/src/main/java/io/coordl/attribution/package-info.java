/**
 * Who waited for what: spans of all threads become batches, data stalls, steps and epochs, and
 * their events. No file access, no recording, no histograms: those listen to {@link
 * io.coordl.attribution.Durations}.
 */
@NullMarked
package io.coordl.attribution;

import org.jspecify.annotations.NullMarked;
