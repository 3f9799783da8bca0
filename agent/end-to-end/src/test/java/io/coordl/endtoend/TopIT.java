package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.UUID;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code coordl top} shows running, stopped and killed jobs, but none that have shut down. */
class TopIT {
  private static final int UNTIL_KILLED = 100_000;

  /** Each frame starts with this sequence. */
  private static final String HOME = "\u001b\\[H";

  private final String group = UUID.randomUUID().toString();
  private final Path directory = directory();

  private static Path directory() {
    try {
      return Workshop.empty("top");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private Running start(Framework framework, String name) throws IOException {
    return Running.start(
        new Job(framework, Workshop.newestJdk(), directory, name, Pictures.all(), UNTIL_KILLED)
            .agent("cache=minio,cache.size=8m,group=" + group));
  }

  /** Waits until a job is shown as running, sends a signal, and waits for the new state. */
  private void signal(Running job, String signal, String state)
      throws IOException, InterruptedException {
    job.awaitEpoch();
    awaitState(job, "running");
    job.signal(signal);
    awaitState(job, state);
  }

  /** Returns the shown jobs, by process id. */
  private Map<Long, JsonNode> jobs() {
    Map<Long, JsonNode> jobs = new HashMap<>();
    try {
      JsonNode all = JsonMapper.shared().readTree(Summary.coordl("top", "--json"));
      for (JsonNode job : all.get("jobs")) {
        if (job.get("group").asString().equals(group)) {
          jobs.put(job.get("pid").asLong(), job);
        }
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
    return jobs;
  }

  private void awaitState(Running job, String state) {
    Running.await(
        () -> "Not " + state + " but " + jobs().get(job.pid()),
        () -> {
          JsonNode shown = jobs().get(job.pid());
          return shown == null
              ? state.isEmpty()
              : shown.get("state").asString().equals(state) && shown.has("recent");
        });
  }

  private static long batches(JsonNode job) {
    return job.at("/summary/totals/batches").asLong();
  }

  private List<Path> files(Running job) throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
      return files.filter(file -> file.toString().contains("-" + job.pid() + "-")).toList();
    }
  }

  @Test
  void jobsAreShownUntilTheyEndAndKilledOnesStayShown() throws IOException, InterruptedException {
    try (Running killed = start(Framework.DJL, "killed");
        Running stopped = start(Framework.DL4J, "stopped");
        Running surviving = start(Framework.DJL, "surviving")) {
      signal(killed, "KILL", "killed");
      signal(stopped, "STOP", "stopped");
      surviving.awaitEpoch();
      awaitState(surviving, "running");
      List<Running> all = List.of(killed, stopped, surviving);
      long atStop = batches(jobs().get(stopped.pid()));
      long before = batches(jobs().get(surviving.pid()));
      long anEpoch = Pictures.all().files().size() / 16;
      assertThat(atStop).isGreaterThanOrEqualTo(anEpoch);
      Running.await(() -> batches(jobs().get(surviving.pid())) > before);

      String terminal = terminal();
      String text = Summary.coordl("top", group);
      for (String shown : List.of(terminal, text)) {
        for (Running job : all) {
          assertThat(shown).containsPattern("(?m)^ *" + job.pid() + " (running|killed|stopped) ");
        }
        assertThat(shown).contains("no update for ", "Store       raw, process: ");
      }

      assertThat(Summary.text(directory.resolve("surviving.jfr")).get(0))
          .contains("is still running");
      assertThat(Summary.text(directory.resolve("killed.jfr")).get(0)).contains("was killed");

      // Recording and display are both updated once a second, but not at the same moment.
      assertThat(Summary.of(dump(stopped)).total("batches")).isGreaterThanOrEqualTo(anEpoch);
      assertThat(Summary.of(dump(surviving)).total("batches")).isGreaterThan(before);

      surviving.signal("TERM");
      awaitState(surviving, "");
      assertThat(files(surviving)).isEmpty();
      assertThat(batches(jobs().get(stopped.pid()))).isEqualTo(atStop);
      stopped.signal("CONT");
      awaitState(stopped, "running");
      Running.await(() -> batches(jobs().get(stopped.pid())) > atStop);
      stopped.signal("KILL");
      awaitState(stopped, "killed");
      for (Running job : List.of(killed, stopped)) {
        assertThat(files(job)).hasSize(1).allMatch(file -> file.toString().endsWith(".status"));
        Files.delete(files(job).get(0));
      }
    }
  }

  /** Dumps a job's recording so far, which the JDK reads like that of an ended job. */
  private Path dump(Running job) throws IOException, InterruptedException {
    Path file = directory.resolve("dump-" + job.pid() + ".jfr");
    Summary.coordl("dump", Long.toString(job.pid()), "-o", file.toString());
    assertThat(RecordingFile.readAllEvents(file)).isNotEmpty();
    assertThat(Summary.text(file).get(0)).contains("so far: its JVM is still running");
    assertThat(Summary.text(file)).noneMatch(line -> line.contains("left early"));
    return file;
  }

  /** Returns the terminal's first output, with at least two frames. */
  private String terminal() throws IOException {
    String java = Workshop.newestJdk().java().toString();
    String jar = Workshop.checkout().coordlJar().toString();
    Process top =
        new ProcessBuilder(
                "script",
                "-qc",
                "timeout "
                    + Workshop.PATIENCE.toSeconds()
                    + " "
                    + java
                    + " -jar "
                    + jar
                    + " top "
                    + group,
                "/dev/null")
            .start();
    try (Scanner out = new Scanner(top.getInputStream(), StandardCharsets.UTF_8)) {
      List<String> drawn = out.useDelimiter(HOME).tokens().limit(4).toList();
      assertThat(drawn).hasSize(4);
      return String.join("", drawn).replace("\r", "");
    } finally {
      top.descendants().forEach(ProcessHandle::destroyForcibly);
      top.destroyForcibly();
    }
  }
}
