package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.pipeline.EpochEngine;
import io.coordl.pipeline.EpochSource;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An epoch of the program's iterator whose batches come from an {@link EpochSource}. The program's
 * readers refer to it until they are reset. Like the iterator, used by one thread at a time.
 */
final class IteratorEpoch {
  private final ProgramEpoch epoch;
  private final ProgramIterator iterator;
  private final List<SeekableReader> readers;
  private final EpochSource source;
  private final int batchSize;
  private final @Nullable Object preprocessor;
  private final boolean cachesIfPossible;
  private int next;

  /**
   * Takes batches from a source.
   *
   * @param cachesIfPossible whether the source was to cache its batches
   */
  IteratorEpoch(ProgramEpoch epoch, EpochSource source, boolean cachesIfPossible) {
    this.epoch = epoch;
    this.cachesIfPossible = cachesIfPossible;
    this.iterator = epoch.program();
    this.readers = List.copyOf(epoch.readers().values());
    this.source = source;
    this.batchSize = epoch.batchSize();
    this.preprocessor = iterator.preprocessor();
  }

  /**
   * Sets the readers to a batch of the epoch, in the adopted order of each.
   *
   * @param batch number of batches that the program has already got
   */
  void begin(List<int[]> orders, int batch) {
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).begin(orders.get(i), this);
      if (batch > 0) {
        readers.get(i).seek(batch * batchSize);
      }
    }
    next = batch;
  }

  ProgramEpoch program() {
    return epoch;
  }

  /** Returns the number of batches that the program has got. */
  int batches() {
    return next;
  }

  /** Whether caching began after this epoch, which does not cache its batches. */
  boolean missesCaching(EpochEngine engine) {
    return !cachesIfPossible && !source.isOver() && engine.keepsBatches();
  }

  boolean isOf(Object other) {
    return iterator.wrapped() == other;
  }

  /** Whether a next batch is known to exist without reading its first record. */
  boolean hasNext() {
    endIfChanged();
    int place = next * batchSize;
    return !source.isOver()
        && place < readers.get(0).records()
        && readers.stream().anyMatch(SeekableReader::makesToKnow)
        && readers.stream().allMatch(reader -> reader.isAt(place))
        && source.isKnown(next);
  }

  /**
   * Ends the epoch if a file has changed, or if the iterator now collects metadata; the library
   * then continues by itself.
   */
  private void endIfChanged() {
    if (!source.isOver()
        && (iterator.collectsMetadata()
            || !readers.stream().allMatch(SeekableReader::isUnchanged))) {
      end();
      readers.forEach(SeekableReader::giveBack);
    }
  }

  /**
   * Returns the next batch as the iterator would have prepared it, and moves the readers past that
   * batch; null if the library must prepare it and all later ones.
   *
   * @param num number of examples that the program requests
   */
  @Nullable InterceptedCall next(int num) throws IOException {
    endIfChanged();
    if (source.isOver()) {
      return null;
    }
    int place = next * batchSize;
    if (num != batchSize
        || iterator.preprocessor() != preprocessor
        || !readers.stream().allMatch(reader -> reader.isAt(place))) {
      end(); // From here on, the epoch differs from the one that began.
      return null;
    }
    long span = Spans.enter(SpanKind.TAKE, iterator.wrapped());
    Object batch = null;
    try {
      batch = source.batch(next);
    } finally {
      Spans.exit(span, batch);
    }
    if (batch == null) {
      end();
      return null;
    }
    next++;
    readers.forEach(reader -> reader.seek(Math.min(place + batchSize, reader.records())));
    source.used();
    try {
      source.finish(batch);
    } catch (RuntimeException | Error e) {
      return InterceptedCall.throwing(e);
    }
    iterator.replaced(batch);
    return new InterceptedCall(batch);
  }

  /** Called when the program resets the iterator, and with it the readers. */
  void reset() {
    end();
    readers.forEach(SeekableReader::close);
  }

  void end() {
    source.end();
  }
}
