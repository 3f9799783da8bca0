package io.coordl.telemetry.recording;

import io.coordl.host.AgentThread;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.live.StatusFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Publishes the live status of the job: every second, writes the current totals and those of ten
 * seconds ago to a small recording in shared memory, for {@code coordl top}. Runs on its own
 * thread; a failure is logged, and the job continues.
 */
final class Status implements Closeable {
  private static final long PERIOD_MILLIS = 1_000;

  /** Seconds over which speed and waits are averaged. */
  private static final int WINDOW = 10;

  private static final Duration PATIENCE = Duration.ofSeconds(1);
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /** Totals, and the time at which they were read, in nanoseconds. */
  private record Past(JobStatisticsEvent totals, long nanos) {}

  private final JobFigures job;
  private final Supplier<Path> directory;
  private final Deque<Past> past = new ArrayDeque<>();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch done = new CountDownLatch(1);

  /** Calls {@code directory} on the status thread. */
  Status(JobFigures job, Supplier<Path> directory) {
    this.job = job;
    this.directory = directory;
  }

  void start() {
    try {
      new AgentThread("coordl-status", this::run).start();
    } catch (SecurityException e) {
      done.countDown();
      job.log().say("coordl top does not show this job: " + e);
    }
  }

  private void run() {
    StatusFile file = null;
    try {
      Path folder = directory.get();
      StatusFile.sweep(folder);
      JvmInformation jvm = JvmInformation.ofThis();
      EventTypes types = new EventTypes();
      file = StatusFile.of(folder, jvm.pid, jvm.jvmStartTime);
      while (!stop.await(PERIOD_MILLIS, TimeUnit.MILLISECONDS)) {
        try {
          job.checkWaits();
          past.add(new Past(job.totals(), System.nanoTime()));
          if (past.size() > WINDOW + 1) {
            past.remove();
          }
          write(file, types, jvm);
        } catch (IOException e) {
          say(e); // A full disk may have space a second later.
        } catch (RuntimeException | OutOfMemoryError e) {
          AgentThread.survive(e);
        }
      }
    } catch (IOException e) {
      say(e);
    } catch (RuntimeException | OutOfMemoryError e) {
      AgentThread.survive(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // Interrupted by another part of the agent, at exit.
    } finally {
      if (file != null) {
        delete(file.unfinished());
        delete(file.path());
      }
      done.countDown();
    }
  }

  /** Writes the window's oldest and newest totals, the settings and the policies' statistics. */
  private void write(StatusFile file, EventTypes types, JvmInformation jvm) throws IOException {
    Path next = file.unfinished();
    EventFile recording = null;
    try {
      // A new file: the creator of an existing one could read it.
      EventFile to = new EventFile(next, types, true, attributes(next));
      recording = to;
      long now = System.nanoTime();
      to.write(jvm, now, now);
      job.configuration().forEach(event -> to.write(event, now, now));
      Past last = past.getLast();
      to.write(last.totals, last.nanos, last.nanos);
      if (past.size() > 1) {
        Past first = past.getFirst();
        to.write(first.totals, first.nanos, first.nanos);
      }
      job.policyStatistics().forEach(event -> to.write(event, now, now));
      job.openWaits().forEach(event -> to.write(event, now, now));
      to.finish();
      Files.move(next, file.path(), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      if (recording != null) {
        recording.giveUp();
      }
      delete(next);
      throw e;
    }
  }

  /** Returns attributes of a file that only its user can read, if the file system supports that. */
  static FileAttribute<?>[] attributes(Path file) {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {OWNER_ONLY}
        : new FileAttribute<?>[0];
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException | SecurityException e) {
      // A later job removes it.
    }
  }

  private void say(IOException e) {
    job.log()
        .say(
            "coordl top does not show this job: its status file cannot be written (%s)",
            FlightLog.reason(e));
  }

  /** Removes the status when the job has ended. */
  @Override
  public void close() {
    stop.countDown();
    AgentThread.await(done, PATIENCE);
  }
}
