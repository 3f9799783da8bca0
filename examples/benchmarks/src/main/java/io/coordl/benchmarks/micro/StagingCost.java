package io.coordl.benchmarks.micro;

import io.coordl.coordination.BatchOrder;
import io.coordl.coordination.Fingerprint;
import io.coordl.coordination.PrepGroup;
import io.coordl.coordination.PreparedBatch;
import io.coordl.coordination.SharedEpoch;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Measures publishing and using a batch of 32 x 3 x 224 x 224 floats in a staging buffer, compared
 * with copying the same number of bytes from one direct buffer to another, and to shared memory.
 * Publishing is measured from the prepared batch until all jobs can use it, including the hand-over
 * to the agent's thread and back. Slots and memory are already touched, as in all epochs but the
 * first.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class StagingCost {
  private static final int BYTES = 32 * 3 * 224 * 224 * 4;
  private static final int BATCHES = 1 << 16;

  /** Batches staged before measuring; more than there are slots. */
  private static final int WARM_UP = 32;

  private final ByteBuffer source = ByteBuffer.allocateDirect(BYTES);
  private final ByteBuffer direct = ByteBuffer.allocateDirect(BYTES);
  private final Semaphore requested = new Semaphore(0);
  private final Semaphore published = new Semaphore(0);
  private ByteBuffer shared = direct;
  private @Nullable PrepGroup group;
  private @Nullable SharedEpoch epoch;
  private int staged;
  private int next;

  /** Creates a staging buffer of a new group, and a buffer in plain shared memory. */
  @Setup
  public void open() throws IOException {
    for (int i = 0; i < BYTES; i += 4) {
      source.putInt(i, i);
      direct.putInt(i, i);
    }
    Path file = Files.createTempFile(ArenaStore.SHARED_MEMORY, "staging-cost", "");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      channel.write(source.duplicate(), 0);
      shared = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES);
    } finally {
      Files.delete(file);
    }
    group =
        new PrepGroup(
            ArenaStore.SHARED_MEMORY,
            "staging-cost-" + ProcessHandle.current().pid(),
            ByteBudget.parse("420m"),
            1,
            System.err::println);
    epoch =
        group.begin(
            new Fingerprint(Map.of("data set", "none")), BatchOrder.evenly(new int[BATCHES], 1));
    epoch().prepareWith((batch, items) -> new Prepared(), 1);
    for (int i = 0; i < WARM_UP; i++) {
      stage();
      useAll();
    }
  }

  private SharedEpoch epoch() {
    if (epoch == null) {
      throw new IllegalStateException("no epoch was begun");
    }
    return epoch;
  }

  /** A batch that needs no preparation and is published on request. */
  private final class Prepared implements PreparedBatch {
    Prepared() {
      requested.acquireUninterruptibly();
    }

    @Override
    public long bytes() {
      return BYTES;
    }

    @Override
    public void writeTo(ByteBuffer target) {
      target.put(0, source, 0, BYTES);
    }

    @Override
    public void close() {
      published.release();
    }
  }

  /** Stages a batch to use; not timed. */
  @Setup(Level.Invocation)
  public void stage() {
    publishOne();
  }

  /** Uses all staged batches; not timed. */
  @TearDown(Level.Invocation)
  public void useAll() throws IOException {
    while (next < staged) {
      useAndCopy();
    }
  }

  /** Copies one direct buffer to another. */
  @Benchmark
  public ByteBuffer copyDirect() {
    return direct.put(0, source, 0, BYTES);
  }

  /** Copies a direct buffer to shared memory. */
  @Benchmark
  public ByteBuffer copyShared() {
    return shared.put(0, source, 0, BYTES);
  }

  /** Publishes a batch to all jobs. */
  @Benchmark
  public void publish() {
    publishOne();
  }

  private void publishOne() {
    staged++;
    requested.release();
    published.acquireUninterruptibly();
  }

  /** Takes a batch and copies it into memory that was used before. */
  @Benchmark
  public ByteBuffer useAndCopy() throws IOException {
    ByteBuffer used = epoch().use(next++, batch -> direct.put(0, batch, 0, BYTES));
    if (used == null) {
      throw new IllegalStateException("batch " + (next - 1) + " was not staged");
    }
    return used;
  }

  /** Leaves the group. */
  @TearDown
  public void close() {
    requested.release(BATCHES); // The preparing thread no longer needs to wait.
    if (group != null) {
      group.close();
    }
  }
}
