package io.coordl.coordination;

import io.coordl.host.Contents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.LongPredicate;

/** The bytes of a staging file; words are read and changed atomically. Thread-safe. */
interface StagingMemory extends Contents.Memory {
  /** Returns the offsets of epoch descriptor 0 or 1. */
  StagingDescriptor.Epoch epoch(int descriptor);

  long itemRoom();

  long batchRoom();

  boolean compareAndSet(long at, long expected, long value);

  /** Adds a participant to a word's set; false if the word does not satisfy {@code condition}. */
  default boolean add(long at, int participant, LongPredicate condition) {
    while (true) {
      long word = get(at);
      if (!condition.test(word)) {
        return false;
      }
      if (compareAndSet(at, word, word | 1L << participant)) {
        return true;
      }
    }
  }

  /**
   * Removes a participant from a word's set; false if absent, or if the word does not satisfy
   * {@code condition}.
   */
  default boolean remove(long at, int participant, LongPredicate condition) {
    while (true) {
      long word = get(at);
      if (!condition.test(word) || !Participants.contains(word, participant)) {
        return false;
      }
      if (compareAndSet(at, word, word & ~(1L << participant))) {
        return true;
      }
    }
  }

  void putInts(long at, int[] values);

  int[] getInts(long at, int count);

  /** False if another program has damaged the memory; it then reads as zeros permanently. */
  default boolean isSound() {
    return true;
  }

  /** Returns a slot's buffer for writing; throws if there is no memory for it. */
  ByteBuffer writable(int slot, int bytes) throws IOException;

  /** Returns a slot's buffer for reading; throws if it cannot be mapped. */
  ByteBuffer readable(int slot, int bytes) throws IOException;

  @Override
  void close();
}
