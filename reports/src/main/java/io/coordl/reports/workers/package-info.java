/**
 * Jobs with unequal workers: batch shares of a synchronous step, virtual workers that run a model
 * as a pipeline, and the placement of layers on parameter servers. These are analytical models; the
 * report lists what was measured and what the models assume.
 */
@NullMarked
package io.coordl.reports.workers;

import org.jspecify.annotations.NullMarked;
