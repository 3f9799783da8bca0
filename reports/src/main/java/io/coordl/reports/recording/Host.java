package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/**
 * What a profile measured of the host and the data set; sizes in bytes, rates in bytes a second, 0
 * is unknown.
 */
@EventName("io.coordl.Host")
public record Host(
    long cores,
    long memory,
    long freeMemory,
    long memoryRate,
    long storageRate,
    long storageRateError,
    long storageThreads,
    @Nullable String storageAccess,
    long datasetItems,
    long datasetBytes,
    long decodedItemBytes,
    double decodeNanos) {}
