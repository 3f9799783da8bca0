package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/** Something inside the agent failed, and the program went on without it. */
@EventName("io.coordl.Fault")
public record Fault(@Nullable String where, @Nullable String cause, @Nullable String action) {}
