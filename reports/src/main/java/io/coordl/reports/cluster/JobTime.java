package io.coordl.reports.cluster;

/**
 * A finished job.
 *
 * @param id job id in the trace
 * @param jctSeconds job completion time: from its arrival to its end
 */
public record JobTime(long id, double jctSeconds) {}
