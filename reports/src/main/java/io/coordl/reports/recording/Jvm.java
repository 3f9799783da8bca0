package io.coordl.reports.recording;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The JVM that wrote the recording; {@code jvmStartTime} in milliseconds since 1970. */
public record Jvm(long pid, long jvmStartTime, @Nullable String jvmVersion) {
  static final String EVENT = "jdk.JVMInformation";

  /** Maximum time from the start of the process to the start of the JVM. */
  private static final Duration MAX_START_DELAY = Duration.ofSeconds(60);

  static Jvm of(JobEvent event) {
    return new Jvm(event.number("pid"), event.number("jvmStartTime"), event.text("jvmVersion"));
  }

  public boolean isRunning() {
    return !processState().matches("|Z|X");
  }

  /**
   * Returns the kernel's state letter of the process; empty if the process does not exist on this
   * host, "?" if the kernel is not Linux.
   */
  public String processState() {
    boolean exists =
        ProcessHandle.of(pid)
            .flatMap(process -> process.info().startInstant())
            .map(start -> Duration.between(start, Instant.ofEpochMilli(jvmStartTime)).abs())
            .filter(apart -> apart.compareTo(MAX_START_DELAY) < 0)
            .isPresent();
    if (!exists) {
      return "";
    }
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      int name = stat.lastIndexOf(") ");
      return name < 0 ? "?" : stat.substring(name + 2, name + 3);
    } catch (IOException e) {
      return "?"; // Not Linux.
    }
  }
}
