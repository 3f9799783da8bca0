package io.coordl.reports.workers;

import org.jspecify.annotations.Nullable;

/**
 * A kind of GPU.
 *
 * @param slower a layer takes so many times as long as the file says
 * @param memoryBytes null if it is no limit
 */
public record Kind(String name, double slower, @Nullable Double memoryBytes) {}
