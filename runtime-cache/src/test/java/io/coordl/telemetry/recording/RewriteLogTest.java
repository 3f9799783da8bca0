package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Classes are rewritten while they are loaded, mostly before there is a recording. */
final class RewriteLogTest {
  /** Logs a rewritten class before a recording begins. */
  public static void main(String[] args) {
    RewriteLog log = new RewriteLog();
    log.add("app.Main", "reads", 1, "", "");
    System.out.println("noted");
    log.events.open((event, start, end) -> System.out.println("written"));
  }

  @Test
  void loggingARewrittenClassBeforeARecordingCreatesNoEvent() throws Exception {
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xlog:class+init=info",
                    "-cp",
                    System.getProperty("java.class.path"),
                    RewriteLogTest.class.getName()))
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(process.waitFor()).isZero();
    assertThat(output)
        .containsSubsequence(
            "noted\n", "Initializing 'io/coordl/telemetry/event/RewrittenEvent'", "written\n");
    assertThat(output.substring(0, output.indexOf("noted\n")))
        .doesNotContain("Initializing 'io/coordl/telemetry/event/RewrittenEvent'");
  }
}
