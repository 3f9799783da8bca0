/**
 * Jobs with unequal workers: batch shares of a synchronous step, virtual workers that run a model
 * as a pipeline, and the placement of layers on parameter servers. These are analytical models:
 * each figure is marked as measured, given, or computed by the model.
 */
@NullMarked
package io.coordl.reports.workers;

import org.jspecify.annotations.NullMarked;
