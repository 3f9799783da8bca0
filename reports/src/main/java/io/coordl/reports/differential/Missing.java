package io.coordl.reports.differential;

/** A missing figure, with a sentence that says why it is missing and, if known, how to get it. */
public record Missing(String figure, String reason) {}
