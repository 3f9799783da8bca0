/**
 * Turns results into events, histograms, the recording and the summary at exit. No rewriting, no
 * attribution rules.
 */
@NullMarked
package io.coordl.telemetry.recording;

import org.jspecify.annotations.NullMarked;
