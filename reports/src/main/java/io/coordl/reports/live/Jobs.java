package io.coordl.reports.live;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.coordl.live.StatusFile;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Jvm;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.reports.summary.Summary;
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
 * The jobs of this user on this host that the agent observes, those that were killed too, in the
 * shape of the JSON: {@code top.schema.json} describes it.
 *
 * @param unreadable why files that look like those of jobs are none, a sentence each
 */
public record Jobs(int schemaVersion, List<Job> jobs, List<String> unreadable) {
  static final int SCHEMA_VERSION = 1;

  /** A running job is heard of each second; a machine that is short of time may keep it longer. */
  private static final Duration SILENCE = Duration.ofSeconds(3);

  /** The agent writes 27 KiB: no text of a program makes it a hundred times as much. */
  private static final long LARGEST = 4L << 20;

  /** What is known of a process. */
  public enum State {
    running,
    /** By a signal, as SIGSTOP. */
    stopped,
    /** It is there, but has not been heard of for some time. */
    silent,
    /** It has ended without a word. */
    killed
  }

  /**
   * A job.
   *
   * @param state running, stopped, silent or killed
   * @param silentNanos how long it has not been heard of
   * @param recent what it did in the last ten seconds it was heard of; null in its first second
   * @param summary of the whole job so far
   * @param file where it shows itself
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
   * Reads what the jobs show now.
   *
   * @param wanted which of them
   * @throws RecordingException if the directory cannot be read
   */
  public static Jobs in(Path directory, Predicate<Job> wanted) throws RecordingException {
    List<Job> jobs = new ArrayList<>();
    List<String> unreadable = new ArrayList<>();
    try {
      List<StatusFile> files = new ArrayList<>(StatusFile.all(directory));
      files.sort(Comparator.comparingLong(StatusFile::jvmStart).thenComparing(StatusFile::pid));
      for (StatusFile file : files) {
        try {
          Job job = job(file);
          if (job != null && wanted.test(job)) {
            jobs.add(job);
          }
        } catch (RecordingException | IOException e) {
          unreadable.add(String.valueOf(e.getMessage()));
        }
      }
    } catch (IOException e) {
      throw new RecordingException(directory + " cannot be read: " + e + ".");
    }
    // A terminal may not be high enough for those that have been killed, too.
    jobs.sort(Comparator.comparing(job -> job.state() == State.killed));
    return new Jobs(SCHEMA_VERSION, jobs, unreadable);
  }

  /** Null if the job has just ended. */
  private static @Nullable Job job(StatusFile file) throws RecordingException, IOException {
    try {
      if (Files.size(file.path()) > LARGEST) {
        throw new RecordingException(
            file.path() + " is larger than any job's status: nothing of it is read.");
      }
      Instant written = Files.getLastModifiedTime(file.path()).toInstant();
      JobRecording recording = RecordingReader.readCopy(file.path());
      Duration silent = Duration.between(written, Instant.now()).abs(); // A clock may be set back.
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

  /** A process of another container cannot be seen: it runs as long as it is heard of. */
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
