package io.coordl.reports.differential;

/** A missing figure, with one sentence about why it is missing and how to get it. */
public record Missing(String figure, String reason) {}
