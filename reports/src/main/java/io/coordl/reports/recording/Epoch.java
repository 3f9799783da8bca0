package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/**
 * One pass over a data set: an epoch if it updated a model, an evaluation if others did and it did
 * not; times in nanoseconds, sizes in bytes.
 */
@EventName("io.coordl.Epoch")
public record Epoch(
    long epoch,
    long updates,
    @Nullable String source,
    boolean complete,
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
