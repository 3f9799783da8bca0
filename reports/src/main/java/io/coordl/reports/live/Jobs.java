package io.coordl.reports.live;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Jvm;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.reports.summary.Summary;
import io.coordl.telemetry.live.StatusFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The observed jobs of this user on this host, including killed ones. Serialised to the JSON that
 * {@code top.schema.json} describes.
 *
 * @param unreadable one sentence for each status file that could not be read
 */
public record Jobs(int schemaVersion, List<Job> jobs, List<String> unreadable) {
  static final int SCHEMA_VERSION = 1;

  /** A running job writes every second, but may take longer on an overloaded machine. */
  private static final Duration SILENCE = Duration.ofSeconds(3);

  /** The agent writes about 35 KiB; even long names and arguments do not add up to megabytes. */
  private static final long MAX_STATUS_BYTES = 4L << 20;

  /** The state of a job's process. */
  public enum State {
    running,
    /** Stopped by a signal such as SIGSTOP. */
    stopped,
    /** The process exists, but has not written for some time. */
    silent,
    /** The process ended without removing its status file. */
    killed
  }

  /**
   * A job.
   *
   * @param state running, stopped, silent or killed
   * @param silentNanos time since it last wrote
   * @param recent its figures of the ten seconds before its last update; null in its first second
   * @param summary totals of the whole job so far
   * @param file its status file
   */
  public record Job(
      long pid,
      State state,
      long silentNanos,
      String group,
      JobRecording.@Nullable Recent recent,
      Summary summary,
      @JsonIgnore Path file) {}

  /**
   * Reads the status files of the jobs.
   *
   * @param filter selects jobs
   * @throws RecordingException if the directory cannot be read
   */
  public static Jobs in(Path directory, Predicate<Job> filter) throws RecordingException {
    List<Job> jobs = new ArrayList<>();
    List<String> unreadable = new ArrayList<>();
    try {
      List<StatusFile> files = new ArrayList<>(StatusFile.all(directory));
      files.sort(Comparator.comparingLong(StatusFile::jvmStart).thenComparing(StatusFile::pid));
      for (StatusFile file : files) {
        try {
          Job job = job(file);
          if (job != null && filter.test(job)) {
            jobs.add(job);
          }
        } catch (RecordingException | IOException e) {
          unreadable.add(String.valueOf(e.getMessage()));
        }
      }
    } catch (IOException e) {
      throw new RecordingException(directory + " cannot be read: " + e + ".");
    }
    // Killed jobs last, the latest of them first: a terminal may have no room for all.
    jobs.sort(
        Comparator.comparingLong(job -> job.state() == State.killed ? 1 + job.silentNanos() : 0));
    return new Jobs(SCHEMA_VERSION, jobs, unreadable);
  }

  /** Reads a status file; returns null if the job has just ended. */
  private static @Nullable Job job(StatusFile file) throws RecordingException, IOException {
    try {
      if (Files.size(file.path()) > MAX_STATUS_BYTES) {
        throw new RecordingException(
            file.path() + " is larger than any job's status, so it is not read.");
      }
      Instant written = Files.getLastModifiedTime(file.path()).toInstant();
      JobRecording recording = RecordingReader.readCopy(file.path());
      Duration silent =
          Duration.between(written, Instant.now()).abs(); // The clock may have been set back.
      return new Job(
          file.pid(),
          state(file, silent),
          silent.toNanos(),
          recording.configuration().getOrDefault("group", ""),
          recording.recent(),
          Summary.of(recording),
          file.path());
    } catch (NoSuchFileException e) {
      if (file.path().toString().equals(e.getFile())) {
        return null;
      }
      throw e;
    }
  }

  /**
   * Returns the state of a job. A process in another container is invisible; it is assumed to run
   * while it writes.
   */
  private static State state(StatusFile file, Duration silent) {
    if (silent.compareTo(SILENCE) < 0) {
      return State.running;
    }
    return switch (new Jvm(file.pid(), file.jvmStart(), null).processState()) {
      case "T", "t" -> State.stopped;
      case "", "Z", "X" -> State.killed;
      default -> State.silent;
    };
  }
}
