package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/** The JVM that wrote the recording; {@code jvmStartTime} in milliseconds since 1970. */
@EventName("jdk.JVMInformation")
public record Jvm(long pid, long jvmStartTime, @Nullable String jvmVersion) {}
