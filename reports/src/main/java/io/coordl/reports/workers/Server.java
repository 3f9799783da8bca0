package io.coordl.reports.workers;

import org.jspecify.annotations.Nullable;

/**
 * A parameter server.
 *
 * @param bytesPerSecond rate of its link, in each direction
 * @param flopsPerSecond floating-point operations a second; null if unknown
 */
public record Server(String name, double bytesPerSecond, @Nullable Double flopsPerSecond) {}
