/**
 * Jobs whose workers are unequal: batch shares of a synchronous step, virtual workers that run a
 * model as a pipeline, and the placement of layers on parameter servers. Models on paper: each
 * figure is marked as measured, given, or the model's.
 */
@NullMarked
package io.coordl.reports.workers;

import org.jspecify.annotations.NullMarked;
