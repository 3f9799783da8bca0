package io.coordl.dl4j;

import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.pipeline.CoordinatedEpoch;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An epoch of the program's iterator that is shared with other jobs; the program's readers hold it,
 * and it ends with them. Used as the iterator is.
 */
final class IteratorEpoch {
  private final ProgramIterator iterator;
  private final List<SeekableReader> readers;
  private final ReaderPipeline pipeline;
  private final CoordinatedEpoch epoch;
  private final int batchSize;
  private final @Nullable Object preprocessor;
  private int next;

  /**
   * An epoch that is about to begin.
   *
   * @param readers of the program
   * @param batchSize records of each reader in each batch but the last one
   */
  IteratorEpoch(
      ProgramIterator iterator,
      List<SeekableReader> readers,
      ReaderPipeline pipeline,
      CoordinatedEpoch epoch,
      int batchSize) {
    this.iterator = iterator;
    this.readers = readers;
    this.pipeline = pipeline;
    this.epoch = epoch;
    this.batchSize = batchSize;
    this.preprocessor = iterator.preprocessor();
  }

  /** False if the jobs do not share it: the library goes on by itself. */
  boolean begin() {
    if (!epoch.begin(this)) {
      return false;
    }
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).begin(pipeline.orders().get(i), this);
    }
    return true;
  }

  boolean isOf(Object other) {
    return iterator.get() == other;
  }

  /**
   * The next batch as the iterator would have made it, with its readers behind it; null if the
   * library is to make it, and all that follow.
   *
   * @param num how many examples the program asks for
   */
  @Nullable Object next(int num) throws IOException {
    if (epoch.isOver()) {
      return null;
    }
    int place = next * batchSize;
    if (num != batchSize
        || iterator.preprocessor() != preprocessor
        || !readers.stream().allMatch(reader -> reader.isAt(place))) {
      end(); // From here on it is no epoch of the pipeline that the jobs share.
      return null;
    }
    long span = Spans.enter(SpanKind.TAKE, iterator.get());
    Object batch = null;
    try {
      batch = batch();
    } finally {
      Spans.exit(span, batch);
    }
    if (batch == null) {
      end();
      return null;
    }
    next++;
    readers.forEach(reader -> reader.seek(Math.min(place + batchSize, reader.records())));
    epoch.used();
    iterator.replaced(batch);
    return batch;
  }

  /** Null if the program's code throws: it is then the library's own call that throws. */
  private @Nullable Object batch() throws IOException {
    Object staged = epoch.mapped(next, BatchBytes::read);
    if (staged != null) {
      return staged;
    }
    try {
      return epoch.alone(() -> pipeline.make(next));
    } catch (Exception | LinkageError e) {
      return null;
    }
  }

  /** No more batches are taken; the second call does nothing. */
  void end() {
    epoch.end();
  }
}
