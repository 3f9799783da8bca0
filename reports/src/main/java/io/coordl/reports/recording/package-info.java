/**
 * Reads recordings: checks that all events of a file can be read and come from one job, and reads
 * CoorDL's events back into the classes from which the agent wrote them. Nothing here formats or
 * prints figures.
 */
@NullMarked
package io.coordl.reports.recording;

import org.jspecify.annotations.NullMarked;
