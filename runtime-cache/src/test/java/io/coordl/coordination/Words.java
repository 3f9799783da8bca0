package io.coordl.coordination;

import io.coordl.host.JobLiveness;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A staging buffer in the memory of this process, for single-threaded tests with a clock that only
 * pauses and the tests themselves advance.
 */
final class Words implements StagingMemory {
  final Map<Long, Long> words = new HashMap<>();
  final Map<Long, int[]> tables = new HashMap<>();
  final Map<Integer, ByteBuffer> slots = new HashMap<>();
  Runnable whenTablesAreRead = () -> {};

  /** Error message with which access to a slot fails; null to succeed. */
  String noMemory;

  private final long itemRoom;
  private final long batchRoom;

  Words(long itemRoom, long batchRoom) {
    this.itemRoom = itemRoom;
    this.batchRoom = batchRoom;
  }

  /** Liveness by a set of job numbers; exclusive actions run immediately. */
  static JobLiveness liveness(Set<Long> living) {
    return new JobLiveness() {
      @Override
      public boolean alive(long job) {
        return living.contains(job);
      }

      @Override
      public void alone(Runnable action) {
        action.run();
      }
    };
  }

  /** Starts at 1 ns. */
  static final class Time implements Clock {
    long now = 1;
    final List<Runnable> whenPaused = new ArrayList<>();

    @Override
    public long nanos() {
      return now;
    }

    @Override
    public void pause(long nanos) {
      now += nanos;
      List.copyOf(whenPaused).forEach(Runnable::run);
    }
  }

  @Override
  public StagingDescriptor.Epoch epoch(int descriptor) {
    return StagingDescriptor.Epoch.at(descriptor, itemRoom, batchRoom);
  }

  @Override
  public long itemRoom() {
    return itemRoom;
  }

  @Override
  public long batchRoom() {
    return batchRoom;
  }

  @Override
  public long get(long at) {
    return words.getOrDefault(at, 0L);
  }

  @Override
  public void set(long at, long value) {
    words.put(at, value);
  }

  @Override
  public boolean compareAndSet(long at, long expected, long value) {
    boolean same = get(at) == expected;
    if (same) {
      set(at, value);
    }
    return same;
  }

  @Override
  public void putInts(long at, int[] values) {
    tables.put(at, values);
  }

  @Override
  public int[] getInts(long at, int count) {
    whenTablesAreRead.run();
    return tables.get(at).clone();
  }

  private ByteBuffer slot(int slot) throws IOException {
    if (noMemory != null) {
      throw new IOException(noMemory);
    }
    return slots
        .computeIfAbsent(
            slot, i -> ByteBuffer.allocateDirect((int) get(StagingDescriptor.SLOT_BYTES)))
        .duplicate()
        .order(ByteOrder.nativeOrder());
  }

  @Override
  public ByteBuffer writable(int slot, int bytes) throws IOException {
    return slot(slot).slice(0, bytes).order(ByteOrder.nativeOrder());
  }

  @Override
  public ByteBuffer readable(int slot, int bytes) throws IOException {
    return slot(slot).slice(0, bytes).order(ByteOrder.nativeOrder());
  }

  @Override
  public void close() {}
}
