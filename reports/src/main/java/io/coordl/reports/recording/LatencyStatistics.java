package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/**
 * Distribution of one kind of span over the whole job (epoch 0); times in nanoseconds.
 *
 * @param histogram the whole distribution: an HdrHistogram, compressed, in base64
 */
@EventName("io.coordl.LatencyStatistics")
public record LatencyStatistics(
    @Nullable String kind,
    long epoch,
    long count,
    long total,
    long minimum,
    long mean,
    long p50,
    long p90,
    long p99,
    long p999,
    long maximum,
    @Nullable String histogram) {}
