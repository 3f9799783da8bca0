package io.coordl.recording;

import io.coordl.event.EventSink;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.live.StatusFile;
import io.coordl.thread.AgentThread;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * Shows from outside what the job does: each second the totals, as they are now and were ten
 * seconds ago, go to a small recording in shared memory that {@code coordl top} reads. On a thread
 * of its own; if it fails, that is said, and the job goes on.
 */
final class Status implements Closeable {
  private static final long PERIOD_MILLIS = 1_000;

  /** Seconds over which speed and waits are told. */
  private static final int WINDOW = 10;

  private static final Duration PATIENCE = Duration.ofSeconds(1);
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /** Totals, and when they were read, in nanoseconds. */
  private record Past(JobStatisticsEvent totals, long nanos) {}

  private final JobMonitor job;
  private final Supplier<Path> directory;
  private final Deque<Past> past = new ArrayDeque<>();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch done = new CountDownLatch(1);

  /** The directory is asked for on the thread. */
  Status(JobMonitor job, Supplier<Path> directory) {
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
      file = StatusFile.of(folder, jvm.pid, jvm.jvmStartTime);
      Recorded recorded = new Recorded(job, jvm);
      while (!stop.await(PERIOD_MILLIS, TimeUnit.MILLISECONDS)) {
        try {
          past.add(new Past(job.totals(), System.nanoTime()));
          if (past.size() > WINDOW + 1) {
            past.remove();
          }
          write(file, recorded.with(past));
        } catch (IOException e) {
          say(e); // A full disk may have room a second later.
        } catch (RuntimeException | OutOfMemoryError e) {
          AgentThread.survive(e);
        }
      }
    } catch (IOException e) {
      say(e);
    } catch (RuntimeException | OutOfMemoryError e) {
      AgentThread.survive(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // By another part of the agent, at the end.
    } finally {
      if (file != null) {
        delete(file.unfinished());
        delete(file.path());
      }
      done.countDown();
    }
  }

  private void write(StatusFile file, ByteBuffer bytes) throws IOException {
    Path next = file.unfinished();
    try {
      // New, as whoever made it before could read it.
      try (FileChannel to =
          FileChannel.open(
              next,
              Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW),
              attributes(next))) {
        while (bytes.hasRemaining()) {
          to.write(bytes);
        }
      }
      Files.move(next, file.path(), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      delete(next);
      throw e;
    }
  }

  private static FileAttribute<?>[] attributes(Path file) {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {OWNER_ONLY}
        : new FileAttribute<?>[0];
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException | SecurityException e) {
      // It is removed when another job starts.
    }
  }

  private void say(IOException e) {
    job.log()
        .say(
            "coordl top does not show this job: its file cannot be written (%s)",
            FlightLog.reason(e));
  }

  /** The recording, of which most stays the same. */
  private static final class Recorded implements EventSink {
    private final long time = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
    private final long nanos = System.nanoTime();
    private final EventTypes types = new EventTypes();
    private final FlightBytes bytes = new FlightBytes();
    private final JobMonitor job;
    private final int unchanged;
    private @Nullable String recording;
    private int configured;

    Recorded(JobMonitor job, JvmInformation jvm) throws IOException {
      this.job = job;
      bytes.raw(new byte[EventFile.HEADER_BYTES], EventFile.HEADER_BYTES);
      FlightBytes metadata = types.metadata;
      bytes.raw(metadata.array(), metadata.size());
      types.write(bytes, jvm, nanos, nanos, 0);
      unchanged = bytes.size();
    }

    @Override
    public void write(Event event, long start, long end) {
      types.write(bytes, event, start, end, 0);
    }

    /** The first and the last totals, and what the policies did. */
    ByteBuffer with(Deque<Past> past) {
      String now = job.recording();
      if (configured == 0 || !Objects.equals(now, recording)) {
        recording = now; // Known once the recorder has begun, and another one if storage fails.
        bytes.cut(unchanged);
        job.configuration().forEach(this::write);
        configured = bytes.size();
      }
      bytes.cut(configured);
      Past first = past.getFirst();
      Past last = past.getLast();
      write(last.totals, last.nanos, last.nanos);
      if (past.size() > 1) {
        write(first.totals, first.nanos, first.nanos);
      }
      job.policyStatistics().forEach(this::write);
      int constants = bytes.size();
      types.writeThreads(bytes, 0, Map.of());
      ByteBuffer all = ByteBuffer.wrap(bytes.array(), 0, bytes.size());
      all.put(EventFile.header(bytes.size(), constants, time, nanos)).rewind();
      return all;
    }
  }

  /** The job has ended: nothing is shown of it any more. */
  @Override
  public void close() {
    stop.countDown();
    AgentThread.await(done, PATIENCE);
  }
}
