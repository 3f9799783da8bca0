package io.coordl.reports.workers;

import org.jspecify.annotations.Nullable;

/**
 * A kind of GPU.
 *
 * @param slowdown time of a layer on this GPU, divided by the {@code ms=} of its line in the
 *     workers file
 * @param memoryBytes memory of the GPU; null if unlimited
 */
public record Kind(String name, double slowdown, @Nullable Double memoryBytes) {}
