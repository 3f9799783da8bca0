package io.coordl.staging;

import io.coordl.shared.Contents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.LongPredicate;

/** The bytes of a staging file; words are read and changed atomically. Thread-safe. */
interface StagingMemory extends Contents.Memory {
  /** Where a descriptor of an epoch, 0 or 1, lies. */
  StagingDescriptor.Epoch epoch(int descriptor);

  long itemRoom();

  long batchRoom();

  boolean compareAndSet(long at, long expected, long value);

  /** Puts a participant into the set of a word; false once that is not as it has to be. */
  default boolean add(long at, int participant, LongPredicate as) {
    while (true) {
      long word = get(at);
      if (!as.test(word)) {
        return false;
      }
      if (compareAndSet(at, word, word | 1L << participant)) {
        return true;
      }
    }
  }

  /** Takes a participant out of it; false if it is not there, or likewise. */
  default boolean remove(long at, int participant, LongPredicate as) {
    while (true) {
      long word = get(at);
      if (!as.test(word) || !Participants.contains(word, participant)) {
        return false;
      }
      if (compareAndSet(at, word, word & ~(1L << participant))) {
        return true;
      }
    }
  }

  void putInts(long at, int[] values);

  int[] getInts(long at, int count);

  /** False if another program has damaged the memory; then it is all zeros, for good. */
  default boolean isSound() {
    return true;
  }

  /** A slot to be filled; throws if there is no memory behind it. */
  ByteBuffer writable(int slot, int bytes) throws IOException;

  /** A slot as it is, to be read from; throws if it cannot be mapped. */
  ByteBuffer readable(int slot, int bytes) throws IOException;

  @Override
  void close();
}
