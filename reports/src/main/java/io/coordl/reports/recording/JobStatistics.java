package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/** Totals since the start of the job; times in nanoseconds over all its threads or its wall. */
@EventName("io.coordl.JobStatistics")
public record JobStatistics(
    @Nullable String mainClass,
    @Nullable String frameworks,
    long passes,
    long epochs,
    long evaluations,
    long faults,
    long wall,
    long batches,
    long compute,
    long stall,
    long fetchStall,
    long prepStall,
    long gcStall,
    long queueStall,
    long checkpoint,
    long fetchTime,
    long decodeTime,
    long transformTime,
    long otherTime,
    long items,
    long memoryItems,
    long peerItems,
    long storageItems,
    long memoryBytes,
    long peerBytes,
    long storageBytes) {}
