package io.coordl.reports.recording;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * Hands frequent events to a thread of its own, which takes them in the order in which they came:
 * to add an event up costs about as much as to read it, so both are done at the same time. A few
 * blocks go round between the two threads, so memory is bounded and nothing is allocated per event.
 *
 * <p>{@link #accept}, {@link #finish} and {@link #close} are called by one thread; what the events
 * are handed to is used by the other until {@link #finish} has returned.
 */
final class EventHandover implements FrequentEvents, AutoCloseable {
  private static final int BLOCKS = 4;
  private static final int EVENTS = 4096;
  private static final int TEXT_BYTES = 1 << 19;
  private static final int MOST_NUMBERS = 5;
  private static final int NO_TEXT = -1;

  /** Some events, field by field. */
  private static final class Block {
    final FrequentType[] types = new FrequentType[EVENTS];
    final long[] starts = new long[EVENTS];
    final long[] durations = new long[EVENTS];
    final long[] numbers = new long[EVENTS * MOST_NUMBERS];
    final int[] textLengths = new int[EVENTS];
    final int[] hashes = new int[EVENTS];
    byte[] texts = new byte[TEXT_BYTES];
    int events;
    int textBytes;

    boolean hasRoom(int length) {
      return events < EVENTS && length <= texts.length - textBytes;
    }

    void clear() {
      events = 0;
      textBytes = 0;
    }
  }

  private final FrequentEvents to;
  private final BlockingQueue<Block> free = new ArrayBlockingQueue<>(BLOCKS);
  private final BlockingQueue<Block> full = new ArrayBlockingQueue<>(BLOCKS);
  private final Thread thread;
  private Block block = new Block();
  private volatile @Nullable Throwable failure;

  /** Says that no block comes any more. */
  private final Block end = new Block();

  EventHandover(FrequentEvents to) {
    this.to = to;
    for (int i = 1; i < BLOCKS; i++) {
      free.add(new Block());
    }
    thread = new Thread(this::take, "coordl-events");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void accept(
      FrequentType type,
      long startNanos,
      long durationNanos,
      long[] numbers,
      @Nullable RecordedText text) {
    int length = text == null ? 0 : text.length();
    if (!block.hasRoom(length)) {
      hand();
      if (length > block.texts.length) {
        block.texts = new byte[length];
      }
    }
    Block into = block;
    int at = into.events++;
    into.types[at] = type;
    into.starts[at] = startNanos;
    into.durations[at] = durationNanos;
    System.arraycopy(numbers, 0, into.numbers, at * MOST_NUMBERS, numbers.length);
    into.textLengths[at] = NO_TEXT;
    if (text != null) {
      into.textLengths[at] = length;
      into.hashes[at] = text.hash();
      text.copyTo(into.texts, into.textBytes);
      into.textBytes += length;
    }
  }

  /** Returns once every event was taken; throws what the taker threw. */
  void finish() {
    hand();
    full.add(end);
    await();
    rethrow();
  }

  private void hand() {
    rethrow();
    try {
      full.put(block);
      block = free.take();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while reading a recording", e);
    }
    block.clear();
  }

  private void rethrow() {
    Throwable thrown = failure;
    if (thrown instanceof RuntimeException e) {
      throw e;
    }
    if (thrown instanceof Error e) {
      throw e;
    }
  }

  private void await() {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while reading a recording", e);
    }
  }

  private void take() {
    RecordedText text = new RecordedText();
    long[][] numbers = new long[MOST_NUMBERS + 1][];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = new long[i];
    }
    try {
      for (Block next = full.take(); next != end; next = full.take()) {
        if (failure == null) {
          take(next, text, numbers);
        }
        free.put(next);
      }
    } catch (InterruptedException stop) {
      // Closed before the end: nobody wants the rest.
    }
  }

  private void take(Block from, RecordedText text, long[][] numbersBySize) {
    int textAt = 0;
    try {
      for (int i = 0; i < from.events; i++) {
        FrequentType type = from.types[i];
        long[] numbers = numbersBySize[type.numbers().size()];
        System.arraycopy(from.numbers, i * MOST_NUMBERS, numbers, 0, numbers.length);
        int length = from.textLengths[i];
        if (length != NO_TEXT) {
          text.set(from.texts, textAt, length, from.hashes[i]);
          textAt += length;
        }
        to.accept(
            type, from.starts[i], from.durations[i], numbers, length == NO_TEXT ? null : text);
      }
    } catch (RuntimeException | Error e) {
      failure = e; // The reader hears of it at the next block; until then blocks go round.
    }
  }

  /** Ends the thread, whatever there is left to take. */
  @Override
  public void close() {
    thread.interrupt();
  }
}
