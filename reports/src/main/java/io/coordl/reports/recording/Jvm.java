package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/** The JVM that wrote the recording; {@code jvmStartTime} in milliseconds since 1970. */
public record Jvm(long pid, long jvmStartTime, @Nullable String jvmVersion) {
  static final String EVENT = "jdk.JVMInformation";

  static Jvm of(JobEvent event) {
    return new Jvm(event.number("pid"), event.number("jvmStartTime"), event.text("jvmVersion"));
  }
}
