/**
 * The mean time of a step and its error, from the many steps of a job instead of its few epochs.
 * Reads the figures of successive steps, never a file.
 */
@NullMarked
package io.coordl.telemetry.steps;

import org.jspecify.annotations.NullMarked;
