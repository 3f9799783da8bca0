package io.coordl.reports.live;

import io.coordl.reports.live.Jobs.Job;
import io.coordl.reports.live.Jobs.State;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.EnvironmentEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Dumps a job's recording so far as a finished recording. The agent's file can be read at any time,
 * so this works even if the job is stopped; totals up to the last second come from its status file.
 * Attaches to the job, with {@code jcmd}, only if JFR alone records it.
 *
 * @param job the job to dump
 */
public record Dump(Job job) {
  /** Maximum time for a JVM to write its recording. */
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private static final int ATTEMPTS = 3;
  private static final int MAX_REASON_LENGTH = 300;

  /**
   * Finds the job to dump.
   *
   * @param pid null: the only running job
   * @throws RecordingException if there is none, none that this user may read, or several
   */
  public static Dump of(Path directory, @Nullable Long pid) throws RecordingException {
    List<Job> jobs =
        Jobs.in(directory, job -> pid == null ? job.state() != State.killed : job.pid() == pid)
            .jobs();
    if (jobs.isEmpty()) {
      throw new RecordingException(pid == null ? "no job of this user runs here." : absent(pid));
    }
    if (pid == null && jobs.size() > 1) {
      throw new RecordingException(
          Text.format(
              "%d jobs run (%s): name the process to dump.",
              jobs.size(),
              jobs.stream()
                  .map(job -> Long.toString(job.pid()))
                  .collect(Collectors.joining(", "))));
    }
    return new Dump(jobs.get(0));
  }

  private static String absent(long pid) {
    Optional<ProcessHandle> process = ProcessHandle.of(pid);
    if (process.isEmpty()) {
      return Text.format("there is no process %d here.", pid);
    }
    Optional<String> user = process.flatMap(found -> found.info().user());
    return user.isPresent() && !user.equals(ProcessHandle.current().info().user())
        ? Text.format("process %d is not this user's: only %s may dump it.", pid, user.get())
        : Text.format(
            "process %d shows no job: it runs without the agent, or with status=off, or has just"
                + " started.",
            pid);
  }

  /** Returns the recording that the agent writes; null if there is none. */
  public @Nullable Path recording() {
    EnvironmentEvent environment = job.summary().program().environment();
    return environment == null || environment.recording == null
        ? null
        : Path.of(environment.recording);
  }

  /**
   * Writes the recording.
   *
   * @throws RecordingException if there is none, or the JVM does not write it
   * @throws IOException if the file cannot be written
   */
  public void writeTo(Path file) throws RecordingException, IOException {
    Path recording = recording();
    if (recording != null) {
      copy(recording, file);
    } else if ("off".equals(job.summary().configuration().get("record"))) {
      throw new RecordingException(
          Text.format("job %d was started with record=off: there is nothing to dump.", job.pid()));
    } else {
      dumpWithJcmd(file);
    }
  }

  private void copy(Path recording, Path file) throws RecordingException, IOException {
    if (!Files.exists(recording)) {
      throw new RecordingException(
          Text.format(
              "job %d records to %s, which does not exist: it was removed, or the job runs in its"
                  + " own container.",
              job.pid(), recording));
    }
    Path latest = Files.createTempFile("coordl-", ".jfr");
    try {
      for (int attempt = 1; ; attempt++) {
        List<Path> files = new ArrayList<>(List.of(recording));
        try {
          // The job replaces this file every second.
          Files.copy(job.file(), latest, StandardCopyOption.REPLACE_EXISTING);
          files.add(latest);
        } catch (NoSuchFileException e) {
          // The job has just ended; the recording is complete.
        }
        try {
          RecordingReader.join(files, file);
          return;
        } catch (RecordingException e) {
          // The job may have been writing to the file: try again.
          if (attempt == ATTEMPTS) {
            throw e;
          }
        }
      }
    } finally {
      Files.deleteIfExists(latest);
    }
  }

  /** Lets the JVM write the recording, because only the JVM can read what JFR has not flushed. */
  private void dumpWithJcmd(Path file) throws RecordingException, IOException {
    if (job.state() == State.killed) {
      throw new RecordingException(
          Text.format(
              "job %d was killed, and only JFR recorded it: the data that JFR had flushed is in the"
                  + " temporary directory, in a folder whose name ends with _%d.",
              job.pid(), job.pid()));
    }
    if (job.state() == State.stopped) {
      throw new RecordingException(
          Text.format(
              "job %d is stopped, and only its JVM can write what JFR recorded: resume it with"
                  + " `kill -CONT %d`.",
              job.pid(), job.pid()));
    }
    String output = jcmd(file);
    if (!Files.exists(file) || Files.size(file) == 0) {
      throw new RecordingException(
          Text.format(
              "the JVM of job %d wrote no recording: %s",
              job.pid(), Text.line(output.replaceFirst("^\\d+:\\s", ""), MAX_REASON_LENGTH)));
    }
  }

  private String jcmd(Path file) throws RecordingException, IOException {
    Path bin = Path.of(System.getProperty("java.home"), "bin");
    Path jcmd =
        List.of(bin.resolve("jcmd"), bin.resolve("jcmd.exe")).stream()
            .filter(Files::isExecutable)
            .findFirst()
            .orElseThrow(
                () ->
                    new RecordingException(
                        Text.format(
                            "job %d is recorded by JFR alone, and %s has no jcmd to dump it: run"
                                + " coordl with a JDK (JAVA_HOME).",
                            job.pid(), bin)));
    Path output = Files.createTempFile("coordl-", ".txt");
    try {
      Process process =
          new ProcessBuilder(
                  jcmd.toString(),
                  Long.toString(job.pid()),
                  "JFR.dump",
                  "filename=\"" + file.toAbsolutePath() + '"')
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      try {
        if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
          throw new RecordingException(
              Text.format(
                  "the JVM of job %d has not answered for %d s.", job.pid(), TIMEOUT.toSeconds()));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      } finally {
        process.destroyForcibly();
      }
      return Files.readString(output);
    } finally {
      Files.deleteIfExists(output);
    }
  }
}
