package io.coordl.reports.cluster;

/**
 * A job of a trace.
 *
 * @param id unique in its trace
 * @param model a name of the {@link ModelTable}
 * @param arrival seconds from the beginning of the trace
 * @param iterations training steps until it is done
 * @param gpus GPUs that it needs at the same time
 */
public record TraceJob(long id, String model, double arrival, long iterations, int gpus) {}
