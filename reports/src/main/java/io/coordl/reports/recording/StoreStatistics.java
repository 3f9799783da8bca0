package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/** State of one item store; sizes in bytes. */
@EventName("io.coordl.StoreStatistics")
public record StoreStatistics(
    @Nullable String store,
    @Nullable String scope,
    @Nullable String group,
    long capacity,
    long used,
    long items,
    long hits,
    long misses,
    long admitted,
    long peer,
    long bypassed,
    boolean full,
    long hitBytes,
    long peerBytes,
    @Nullable String order,
    long itemBytes,
    long itemSaves,
    long jobs) {}
