package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/** A job's part in the coordinated prep of one pipeline; sizes in bytes, times in nanoseconds. */
@EventName("io.coordl.StagingStatistics")
public record StagingStatistics(
    @Nullable String group,
    @Nullable String pipeline,
    long capacity,
    long slots,
    long slotBytes,
    long jobs,
    long passes,
    long sharedPasses,
    long prepared,
    long mapped,
    long copied,
    long takenBytes,
    long nobody,
    long notStaged,
    long late,
    long lost,
    long waited,
    long waitedFor,
    long slowestJob,
    long waitedForSlowest,
    long takeOvers,
    long dropped,
    long tooLate,
    long updates) {}
