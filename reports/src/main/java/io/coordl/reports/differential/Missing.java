package io.coordl.reports.differential;

/** A figure that the recording does not hold: why, and how to get it, as one sentence. */
public record Missing(String figure, String reason) {}
