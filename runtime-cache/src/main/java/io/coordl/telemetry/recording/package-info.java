/**
 * Turns measurements into events, histograms, the recording and the summary at exit. Contains no
 * rewriting and no attribution rules.
 */
@NullMarked
package io.coordl.telemetry.recording;

import org.jspecify.annotations.NullMarked;
