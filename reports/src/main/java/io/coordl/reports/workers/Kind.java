package io.coordl.reports.workers;

import org.jspecify.annotations.Nullable;

/**
 * A kind of GPU.
 *
 * @param slower factor by which a layer takes longer than the time in the file
 * @param memoryBytes memory of the GPU; null if unlimited
 */
public record Kind(String name, double slower, @Nullable Double memoryBytes) {}
