package io.coordl.reports.workers;

import org.jspecify.annotations.Nullable;

/**
 * A parameter server.
 *
 * @param bytesPerSecond of its link, each way
 * @param flopsPerSecond floating-point operations a second; null if unknown
 */
public record Server(String name, double bytesPerSecond, @Nullable Double flopsPerSecond) {}
