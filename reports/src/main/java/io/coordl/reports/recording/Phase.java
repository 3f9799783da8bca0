package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/**
 * One phase of a differential profile at one number of workers; times in nanoseconds, sizes in
 * bytes, figures of the steady state only.
 */
@EventName("io.coordl.Phase")
public record Phase(
    @Nullable String phase,
    long workers,
    long warmupSteps,
    long steps,
    long samples,
    long wall,
    double sampleNanos,
    double sampleNanosError,
    long compute,
    long stall,
    long fetchStall,
    long prepStall,
    long gcStall,
    long queueStall,
    long fetchTime,
    long prepTime,
    long cpu,
    long items,
    long memoryBytes,
    long storageBytes,
    boolean steady,
    @Nullable String note) {}
