package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** If a loader hangs, the agent reports it during the wait and when a signal ends the job. */
class OpenWaitIT {
  private static final Pattern WATCHED = Pattern.compile("coordl top (\\d+)");

  /** The loader hangs on DL4J's prefetch thread, in DJL's pool, or on the training thread. */
  @ParameterizedTest(name = "{1} {2}")
  @CsvSource({
    "DL4J, example.truth.Dl4jWaits, fit",
    "DJL, example.truth.DjlWaits, easytrain-pool",
    "DJL, example.truth.DjlWaits, hand"
  })
  void aBatchThatNeverComesIsReportedWithTheFile(Framework framework, String main, String program)
      throws Exception {
    Path directory = Workshop.empty("open-wait-" + framework + "-" + program);
    Path file = Files.write(directory.resolve("broken.jpg"), new byte[1_000]);
    Path recording = directory.resolve("job.jfr");
    CompletableFuture<Long> pid = new CompletableFuture<>();
    CompletableFuture<String> reported = new CompletableFuture<>();
    ChildJvm job =
        Workshop.program(Workshop.newestJdk(), framework, main)
            .jvmArgs("-Dtruth.hangs=30", "-Dtruth.file=" + file)
            .args(program, "1", "1", "20", "3")
            .agent(Workshop.checkout().agentJar(), "record=" + recording)
            .timeout(Workshop.MAX_DURATION)
            .echo(
                line -> {
                  Matcher watched = WATCHED.matcher(line);
                  if (watched.find()) {
                    pid.complete(Long.parseLong(watched.group(1)));
                  } else if (line.contains(" for a batch, far longer than ever before")) {
                    reported.complete(line);
                  }
                });
    FutureTask<ChildResult> running = new FutureTask<>(job::run);
    Thread runner = new Thread(running, "job");
    runner.setDaemon(true);
    runner.start();
    long jvm = pid.get(Workshop.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    ProcessHandle process = ProcessHandle.of(jvm).orElseThrow();
    try {
      assertThat(reported.get(Workshop.PATIENCE.toSeconds(), TimeUnit.SECONDS))
          .contains("thread main has waited ", "last file opened: ", "broken.jpg, by thread ");
      assertThat(top(jvm))
          .contains("thread main has waited ", "broken.jpg")
          .doesNotContain(" to go");
    } finally {
      process.destroy(); // SIGTERM.
    }
    ChildResult ended = running.get(Workshop.PATIENCE.toSeconds(), TimeUnit.SECONDS);

    assertThat(ended.err())
        .contains(
            "[coordl] thread main waited ", "a batch that never came", "broken.jpg, by thread ")
        .contains("next: find out what the loader waited for");
    List<String> summary = Summary.text(recording);
    assertThat(summary)
        .anyMatch(line -> line.startsWith("Open wait   thread main waited "))
        .anyMatch(line -> line.startsWith("Try next    find out what the loader waited for"));
    assertThat(Summary.of(recording).total("stallNanos"))
        .isGreaterThan(Summary.of(recording).total("wallNanos") / 2);
    List<RecordedEvent> events =
        RecordingFile.readAllEvents(recording).stream()
            .filter(event -> event.getEventType().getName().equals("io.coordl.OpenWait"))
            .toList();
    assertThat(events).hasSize(1);
    String stacks = events.get(0).getString("stack") + events.get(0).getString("readerStack");
    assertThat(stacks).contains("example.truth.Hang.hangIfDue");
    assertThat(events.get(0).getString("file")).isEqualTo(file.toString());
  }

  /**
   * Returns what {@code coordl top} shows once the job's status file, which is written every
   * second, contains the wait.
   */
  private static String top(long pid) {
    StringBuilder shown = new StringBuilder();
    Running.await(
        shown::toString,
        () -> {
          try {
            shown.setLength(0);
            shown.append(Summary.coordl("top", Long.toString(pid)));
            return shown.indexOf("has waited") >= 0;
          } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    return shown.toString();
  }
}
