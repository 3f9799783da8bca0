package io.coordl.coordination;

import static io.coordl.coordination.StagingDescriptor.ALL;
import static io.coordl.coordination.StagingDescriptor.LOW_MASK;
import static io.coordl.coordination.StagingDescriptor.MAX_PARTICIPANTS;
import static io.coordl.coordination.StagingDescriptor.MAX_SLOTS;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_CURSOR;
import static io.coordl.coordination.StagingDescriptor.SLOT_BYTES;
import static io.coordl.coordination.StagingDescriptor.cursor;
import static io.coordl.coordination.StagingDescriptor.low;
import static io.coordl.coordination.StagingDescriptor.middle;
import static io.coordl.coordination.StagingDescriptor.participant;
import static io.coordl.coordination.StagingDescriptor.state;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * A staging file that records hand-overs. Before a slot is filled, its next generation starts and
 * the slot is poisoned; its history is recorded, and some hand-overs are delayed. Shared by the
 * jobs of one process. Thread-safe.
 */
final class WatchedMemory implements StagingMemory {
  private static final byte POISON = (byte) 0xa5;
  private static final int HISTORY_LENGTH = 12;

  /** One hand-over in this many is delayed, on average. */
  private static final int SELDOM = 50;

  private static final int MAX_DELAY_NANOS = 200_000;

  private final StagingFile file;
  private final AtomicLongArray generations = new AtomicLongArray(MAX_SLOTS);
  private final List<Deque<String>> histories = new ArrayList<>();
  private final ThreadLocal<Integer> reading = ThreadLocal.withInitial(() -> -1);

  private volatile boolean early;

  WatchedMemory(StagingFile file) {
    this.file = file;
    for (int i = 0; i < MAX_SLOTS; i++) {
      histories.add(new ArrayDeque<>());
    }
  }

  /** Makes slots appear free while they are read: the planted defect. */
  void handOnEarly() {
    early = true;
  }

  /** Delays the calling thread at random. */
  static void handOver() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    if (random.nextInt(SELDOM) == 0) {
      LockSupport.parkNanos(random.nextInt(MAX_DELAY_NANOS));
    }
  }

  /** Returns the slot that the calling thread last received for reading; -1 if none. */
  int reading() {
    return reading.get();
  }

  long generation(int slot) {
    return generations.get(slot);
  }

  /** Returns a slot's state and history. */
  String history(int slot) {
    Deque<String> history = histories.get(slot);
    synchronized (history) {
      return String.format(
          "slot %s is %s, was%n  %s",
          slot, text(file.get(StagingDescriptor.slot(slot))), String.join("\n  ", history));
    }
  }

  private static String text(long word) {
    return switch (state(word)) {
      case StagingDescriptor.FREE -> "FREE";
      case StagingDescriptor.FILLING ->
          "FILLING for epoch " + StagingDescriptor.epoch(word) + ", by job " + middle(word);
      case StagingDescriptor.READY ->
          String.format(
              "READY, batch %s of epoch %s, held by %s",
              middle(word), StagingDescriptor.epoch(word), Long.toBinaryString(low(word)));
      default -> "BROKEN";
    };
  }

  /** Returns the slot whose word is at this offset; -1 if none. */
  private static int slot(long at) {
    long number = (at - StagingDescriptor.slot(0)) / Long.BYTES;
    return number >= 0 && number < MAX_SLOTS ? (int) number : -1;
  }

  private static boolean isCursor(long at) {
    for (int i = 0; i < MAX_PARTICIPANTS; i++) {
      if (at == participant(i) + PARTICIPANT_CURSOR) {
        return true;
      }
    }
    return false;
  }

  private static long withoutHolders(long word) {
    return state(word) == StagingDescriptor.READY ? word & ~LOW_MASK : word;
  }

  @Override
  public long get(long at) {
    long word = file.get(at);
    if (early && slot(at) >= 0) {
      return withoutHolders(word);
    }
    return early && isCursor(at)
        ? cursor(StagingDescriptor.epoch(word), Math.min(ALL, middle(word) + 1))
        : word;
  }

  @Override
  public void set(long at, long value) {
    file.set(at, value);
  }

  @Override
  public boolean compareAndSet(long at, long expected, long value) {
    handOver();
    int slot = slot(at);
    long before = early && slot >= 0 ? file.get(at) : expected;
    if (withoutHolders(before) != withoutHolders(expected)
        || !file.compareAndSet(at, before, value)) {
      return false;
    }
    if (slot >= 0) {
      changed(slot, value);
    }
    handOver();
    return true;
  }

  private void changed(int slot, long now) {
    if (state(now) == StagingDescriptor.FILLING) {
      generations.incrementAndGet(slot); // Before it can be READY and read again.
      poison(slot);
    }
    Deque<String> history = histories.get(slot);
    synchronized (history) {
      history.addLast(text(now) + ", by " + Thread.currentThread().getName());
      if (history.size() > HISTORY_LENGTH) {
        history.removeFirst();
      }
    }
  }

  /** Must be called by the thread that owns the slot. */
  private void poison(int slot) {
    int size = (int) file.get(SLOT_BYTES);
    if (size == 0) {
      return; // No batch has been prepared yet.
    }
    try {
      ByteBuffer bytes = file.writable(slot, size);
      for (int i = 0; i < size; i++) {
        bytes.put(i, POISON);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public ByteBuffer writable(int slot, int bytes) throws IOException {
    handOver();
    return file.writable(slot, bytes);
  }

  @Override
  public ByteBuffer readable(int slot, int bytes) throws IOException {
    handOver();
    reading.set(slot);
    return file.readable(slot, bytes);
  }

  @Override
  public StagingDescriptor.Epoch epoch(int descriptor) {
    return file.epoch(descriptor);
  }

  @Override
  public long itemRoom() {
    return file.itemRoom();
  }

  @Override
  public long batchRoom() {
    return file.batchRoom();
  }

  @Override
  public void putInts(long at, int[] values) {
    file.putInts(at, values);
  }

  @Override
  public int[] getInts(long at, int count) {
    return file.getInts(at, count);
  }

  @Override
  public boolean isSound() {
    return file.isSound();
  }

  @Override
  public void close() {
    file.close();
  }
}
