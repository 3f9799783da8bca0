package io.coordl.reports.differential;

/**
 * A figure that the recording does not hold.
 *
 * @param figure what is missing
 * @param reason why, and how to get it, as one sentence
 */
public record Missing(String figure, String reason) {}
