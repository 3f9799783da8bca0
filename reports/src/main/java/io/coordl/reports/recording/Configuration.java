package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/** One argument of the agent as the agent understood it. */
@EventName("io.coordl.Configuration")
public record Configuration(
    @Nullable String key, @Nullable String value, @Nullable String origin) {}
