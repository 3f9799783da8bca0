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

  /** It is up so long after its process has started, at most. */
  private static final Duration START = Duration.ofSeconds(60);

  static Jvm of(JobEvent event) {
    return new Jvm(event.number("pid"), event.number("jvmStartTime"), event.text("jvmVersion"));
  }

  public boolean isRunning() {
    return !processState().matches("|Z|X");
  }

  /**
   * The letter by which the kernel says what its process does now; empty if there is none on this
   * host, "?" if there is no such kernel.
   */
  public String processState() {
    boolean there =
        ProcessHandle.of(pid)
            .flatMap(process -> process.info().startInstant())
            .map(start -> Duration.between(start, Instant.ofEpochMilli(jvmStartTime)).abs())
            .filter(apart -> apart.compareTo(START) < 0)
            .isPresent();
    if (!there) {
      return "";
    }
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      int name = stat.lastIndexOf(") ");
      return name < 0 ? "?" : stat.substring(name + 2, name + 3);
    } catch (IOException e) {
      return "?"; // No Linux.
    }
  }
}
