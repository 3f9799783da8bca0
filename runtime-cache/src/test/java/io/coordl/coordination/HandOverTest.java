package io.coordl.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.host.JobLiveness;
import io.coordl.testing.Full;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job that reads a batch sees that batch's bytes from the first read to the last, whatever the
 * threads of all jobs do. The test uses the production shared memory, poisons slots before they are
 * refilled, and delays threads at hand-overs.
 */
class HandOverTest {
  private static final int JOBS = 3;
  private static final int PRODUCERS = 2;
  private static final int EPOCHS = Full.ON ? 5_000 : 200;
  private static final long PATIENCE_NANOS = Duration.ofMinutes(2).toNanos();

  /** Number of bytes to show of a wrong batch. */
  private static final int SHOWN = 96;

  @TempDir Path directory;
  private final List<PipelineSession> sessions = new ArrayList<>();
  private final HeartbeatThread heartbeat = new HeartbeatThread(this::beat);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
  private final Queue<Throwable> faults = new ConcurrentLinkedQueue<>();
  private final AtomicLong given = new AtomicLong();
  private final Object setup = new Object();
  private WatchedMemory memory;

  /** All jobs live as long as the test. */
  private final JobLiveness liveness =
      new JobLiveness() {
        @Override
        public boolean alive(long job) {
          return true;
        }

        @Override
        public void alone(Runnable action) {
          synchronized (setup) {
            action.run();
          }
        }
      };

  private void beat() {
    synchronized (sessions) {
      sessions.forEach(PipelineSession::beat);
    }
  }

  @AfterEach
  void end() {
    synchronized (sessions) {
      sessions.forEach(PipelineSession::close);
    }
    threads.shutdown();
    heartbeat.stop();
    memory.close();
  }

  /** Twelve slots for fifteen batches, as in {@link StagingJob}: the window slides. */
  private void make() throws IOException {
    StagingContents contents = new StagingContents(StagingJob.PIPELINE, order(1), heartbeat);
    Path path = Files.createFile(directory.resolve("a.staging"));
    StagingFile file = contents.map(path, contents.capacity(12 * 4L * Batches.INTS));
    contents.format(file);
    contents.header().write(file, 42, file.length());
    memory = new WatchedMemory(file);
  }

  private static BatchOrder order(long seed) {
    return Batches.order(StagingJob.ITEMS, StagingJob.BATCH, seed);
  }

  private PipelineSession join(long job) {
    liveness.alone(
        () -> assertThat(Participants.enter(memory, job, 1000 + job, liveness::alive)).isTrue());
    PipelineSession session =
        new PipelineSession(
            memory,
            liveness,
            Clock.SYSTEM,
            StagingJob.TIMEOUTS,
            job,
            threads,
            line -> {},
            faults::add,
            blocked -> {},
            () -> 0,
            () -> {});
    synchronized (sessions) {
      sessions.add(session);
    }
    return session;
  }

  @Test
  void aBatchDoesNotChangeWhileItIsRead() throws Exception {
    make();
    List<Future<?>> jobs = new ArrayList<>();
    for (int job = 1; job <= JOBS; job++) {
      PipelineSession session = join(job);
      long seed = job;
      jobs.add(
          threads.submit(
              () -> {
                for (int number = 0; number < EPOCHS; number++) {
                  goThrough(session, seed * EPOCHS + number);
                }
              }));
    }
    for (Future<?> job : jobs) {
      job.get();
    }
    long all = (long) JOBS * EPOCHS * order(1).batches();
    System.out.println(given + " of " + all + " batches were handed over");
    assertThat(wrong).isEmpty();
    assertThat(faults).isEmpty();
    assertThat(given.get()).isPositive(); // Not all: delayed jobs prepare some themselves.
  }

  private void goThrough(PipelineSession session, long seed) {
    SharedEpoch epoch = session.begin(order(seed), JOBS);
    if (epoch == null) {
      return;
    }
    prepare(epoch, seed);
    for (int batch = 0; batch < epoch.order().batches(); batch++) {
      int[] items = epoch.order().items(batch);
      take(epoch, batch, () -> WatchedMemory.handOver(), items);
    }
    epoch.end();
  }

  private static void prepare(SharedEpoch epoch, long seed) {
    epoch.prepareWith(
        (batch, items) -> {
          WatchedMemory.handOver();
          return Batches.prepared(items, seed + batch);
        },
        PRODUCERS);
  }

  private void take(SharedEpoch epoch, int batch, Runnable between, int[] items) {
    try {
      epoch.use(
          batch,
          bytes -> {
            inspect(bytes, between, items);
            return given.incrementAndGet();
          });
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void inspect(ByteBuffer bytes, Runnable between, int[] items) {
    int slot = memory.reading();
    long generation = memory.generation(slot);
    ByteBuffer first = Batches.copy(bytes.duplicate().order(bytes.order()));
    between.run();
    ByteBuffer second = Batches.copy(bytes.duplicate().order(bytes.order()));
    long later = memory.generation(slot);
    boolean same = first.equals(second);
    if (later != generation || !same || !Batches.checkAndOverwrite(items, first)) {
      wrong.add(
          String.format(
              "The batch of items %s was read in generation %s and %s by %s:%n%s%n%s%n%s",
              Arrays.toString(items),
              generation,
              later,
              Thread.currentThread().getName(),
              hex(first, second),
              hex(second, first),
              memory.history(slot)));
    }
  }

  /** Returns the bytes from the first difference, in hex. */
  private static String hex(ByteBuffer bytes, ByteBuffer other) {
    int from = Math.max(0, bytes.mismatch(other));
    byte[] shown = new byte[Math.min(SHOWN, bytes.capacity() - from)];
    bytes.get(from, shown);
    return from + ": " + HexFormat.of().formatHex(shown);
  }

  /** Tests the other test: with a planted defect, its check fails and shows the slot's history. */
  @Test
  void aSlotReusedTooEarlyIsDetected() throws Exception {
    make();
    PipelineSession session = join(1);
    SharedEpoch epoch = session.begin(order(1), 1);
    assertThat(epoch).isNotNull();
    prepare(epoch, 1);
    take(epoch, 0, this::awaitNextGeneration, epoch.order().items(0));
    epoch.end();
    assertThat(wrong).hasSize(1);
    assertThat(wrong.peek()).contains("FILLING for epoch 1, by job 1", "READY, batch 0 of epoch 1");
  }

  /** Makes slots appear free and waits until a thread begins to refill the slot being read. */
  private void awaitNextGeneration() {
    memory.handOnEarly();
    int slot = memory.reading();
    long generation = memory.generation(slot);
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (memory.generation(slot) == generation && System.nanoTime() < end) {
      LockSupport.parkNanos(100_000);
    }
  }
}
