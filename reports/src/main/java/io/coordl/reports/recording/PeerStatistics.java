package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/** What was asked of one other host; times in nanoseconds over all threads, sizes in bytes. */
@EventName("io.coordl.PeerStatistics")
public record PeerStatistics(
    @Nullable String peer,
    long found,
    long absent,
    long kept,
    long late,
    long failed,
    long receivedBytes,
    long sentBytes,
    long foundTime,
    long keptTime,
    long lostTime) {}
