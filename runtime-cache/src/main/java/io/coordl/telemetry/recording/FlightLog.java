package io.coordl.telemetry.recording;

import io.coordl.host.AgentThread;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.EventSink;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The recording of the job: the agent's own file ({@link EventFile}), or the user's recording if
 * one is already running. The job continues whatever happens to the file; at worst there is no
 * recording, or it ends early, and that is logged.
 */
final class FlightLog {
  private static final long FLUSH_MILLIS = 1_000;

  /** Maximum age of the totals in the recording of a killed job. */
  private static final long TOTALS_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** How long the JVM's exit waits for storage that hangs. */
  private static final long PATIENCE_SECONDS = 10;

  /** Beyond half of this size, {@link Thinning} leaves out events of items, then of batches. */
  private static final long MAX_BYTES = 4L << 30;

  private static final int MAX_NUMBERED = 10_000;

  /** Size limit including totals and epochs. */
  private static final long MAX_WITH_TOTALS = MAX_BYTES + (MAX_BYTES >> 3);

  private final JobFigures job;
  private final Runnable began;
  private final LongSupplier clock;
  private final JfrEvents jfr;
  private final CountDownLatch stop = new CountDownLatch(1);

  /** At zero until started: there is nothing to wait for before that. */
  private volatile CountDownLatch done = new CountDownLatch(0);

  private volatile @Nullable EventFile file;
  private volatile @Nullable String outcome;

  /**
   * Creates a recorder that records nothing yet.
   *
   * @param began called once it is known whether and where events are recorded
   */
  FlightLog(JobFigures job, Runnable began) {
    this(job, began, System::nanoTime);
  }

  /** For tests, whose clock decides when totals are due. */
  FlightLog(JobFigures job, Runnable began, LongSupplier clock) {
    this.job = job;
    this.began = began;
    this.clock = clock;
    this.jfr = new JfrEvents(job);
  }

  /**
   * Records on a separate thread until {@link #finish}.
   *
   * @param target file to write; {@code %p} is replaced by the process ID
   * @param own whether to write a file even if the user's recording is running
   */
  void start(String target, boolean own) {
    done = new CountDownLatch(1);
    new AgentThread("coordl-recorder", () -> record(target, own)).start();
  }

  private void record(String target, boolean own) {
    try {
      try {
        if (!own && JfrEvents.isRecording()) {
          outcome = "the recording that was already running";
        } else {
          file = open(target);
        }
        jfr.listen();
      } catch (RuntimeException | LinkageError e) {
        job.log().say("JFR recordings do not get the events of the agent (" + e + ")");
      }
      EventFile opened = file;
      Thinning thinned = opened == null ? null : new Thinning(opened, MAX_BYTES);
      // Events go to the file, if there is one, and to any JFR recording of the user, now or later.
      job.open(
          thinned == null
              ? jfr
              : (event, start, end) -> {
                thinned.write(event, start, end);
                jfr.write(event, start, end);
              });
      began.run();
      if (opened != null && thinned != null) {
        keepFlushing(opened, thinned, target);
      }
    } finally {
      done.countDown();
    }
  }

  private @Nullable EventFile open(String target) {
    try {
      JvmInformation jvm = JvmInformation.ofThis();
      EventFile opened = open(target, Long.toString(jvm.pid));
      outcome = opened.path.toString();
      job.recordedIn(outcome, false);
      long now = System.nanoTime();
      opened.write(jvm, now, now);
      return opened;
    } catch (IOException | RuntimeException | Error e) {
      job.log()
          .say("record=" + target + " cannot be written (" + reason(e) + "); no recording is made");
      outcome = "none, " + target + " cannot be written (" + reason(e) + ")";
      job.recordedIn(null, true);
      return null;
    }
  }

  /**
   * Creates the recording. An existing one whose full name the user has given is replaced, unless a
   * job is writing it. One whose name contains a process ID is never replaced: it may belong to
   * another job, because jobs in different containers may have the same ID.
   */
  private EventFile open(String target, String pid) throws IOException {
    boolean replaces = !target.contains("%p");
    Path path = Path.of(target.replace("%p", pid)).toAbsolutePath();
    for (int i = 1; ; i++) {
      try {
        EventFile opened = new EventFile(numbered(path, i), new EventTypes(), replaces && i == 1);
        if (replaces && i > 1) {
          job.log()
              .say(
                  "record=%s: another job is writing it; the recording of this job is %s",
                  target, opened.path);
        }
        return opened;
      } catch (FileAlreadyExistsException e) {
        if (i == MAX_NUMBERED) {
          throw e;
        }
      }
    }
  }

  /** Returns {@code job.jfr}, {@code job-2.jfr}, {@code job-3.jfr}, ... */
  private static Path numbered(Path path, int number) {
    if (number == 1) {
      return path;
    }
    String name = path.getFileName().toString();
    int end = name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length();
    return path.resolveSibling(name.substring(0, end) + "-" + number + name.substring(end));
  }

  private void keepFlushing(EventFile own, Thinning thinned, String target) {
    EventSink onlyFile = own::write;
    try {
      long lastTotals = clock.getAsLong();
      boolean last = false;
      while (!last) {
        last = awaitStop() || own.size() >= MAX_WITH_TOTALS;
        try {
          job.checkWaits();
          long now = clock.getAsLong();
          if (last || now - lastTotals >= TOTALS_NANOS) {
            lastTotals = now;
            job.statistics().forEach(onlyFile::write);
          }
          own.flush();
          thinned.check();
        } catch (RuntimeException | OutOfMemoryError e) {
          AgentThread.survive(e);
        }
      }
      own.finish();
      if (own.size() >= MAX_WITH_TOTALS) {
        ended(own, "it has reached its limit of 4.5 GiB", target);
      } else if (own.lost() > 0) {
        outcome =
            own.path
                + ", without "
                + Text.count(own.lost(), "event", "events")
                + ": storage was too slow";
      } else if (thinned.leftOut() > 0) {
        outcome =
            own.path
                + ", without "
                + Text.count(thinned.leftOut(), "event", "events")
                + " of single items and batches, to limit its size";
      } else if (!own.exists()) {
        outcome = "none, " + own.path + " was removed or replaced while the job ran";
      }
    } catch (IOException | RuntimeException | Error e) {
      own.giveUp();
      ended(own, reason(e), target);
    } finally {
      file = null;
    }
  }

  private void ended(EventFile own, String reason, String target) {
    LocalTime now = LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS);
    boolean refused = own.size() == 0;
    job.recordedIn(refused ? null : own.path.toString(), refused);
    outcome =
        refused
            ? "none, " + own.path + " cannot be written (" + reason + ")"
            : own.path + ", only until " + now + " (" + reason + ")";
    job.log()
        .say(
            "record=%s can no longer be written (%s); the recording ends, and the program"
                + " continues",
            target, reason);
  }

  /** Describes a failure: exceptions of file systems often name only the file. */
  static String reason(Throwable e) {
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    } else if (e instanceof NoSuchFileException missing) {
      Path folder = missing.getFile() == null ? null : Path.of(missing.getFile()).getParent();
      return folder != null && Files.isDirectory(folder)
          ? "no file can be created in that directory"
          : "there is no such directory";
    }
    String reason = e instanceof FileSystemException file ? file.getReason() : e.getMessage();
    return reason == null ? e.getClass().getSimpleName() : reason;
  }

  /** Waits until the next flush is due; returns whether the job has ended. Ignores interrupts. */
  private boolean awaitStop() {
    try {
      return stop.await(FLUSH_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return stop.getCount() == 0;
    }
  }

  /** Finishes the file when the JVM ends and all events have been written. */
  void finish() {
    stop.countDown();
    if (!AgentThread.await(done, Duration.ofSeconds(PATIENCE_SECONDS))) {
      outcome = outcome + ", not finished: storage has not answered for " + PATIENCE_SECONDS + " s";
    }
  }

  /** Returns the recording's file and any problem with it; null without a recording. */
  @Nullable String where() {
    return outcome;
  }
}
