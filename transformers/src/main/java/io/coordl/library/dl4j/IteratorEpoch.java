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
  private final List<SeekableReader> readers;
  private final EpochSource source;
  private final @Nullable Object preprocessor;
  private final boolean cachesIfPossible;
  private int next;
  private boolean isOver;

  /**
   * Takes batches from a source.
   *
   * @param cachesIfPossible whether the source was to cache its batches
   */
  IteratorEpoch(ProgramEpoch epoch, EpochSource source, boolean cachesIfPossible) {
    this.epoch = epoch;
    this.cachesIfPossible = cachesIfPossible;
    this.readers = List.copyOf(epoch.readers().values());
    this.source = source;
    this.preprocessor = epoch.program().preprocessor();
  }

  /**
   * Sets the readers to a batch of the epoch, in the adopted order of each. If a file has changed,
   * the library prepares that batch and all later ones.
   *
   * @param batch number of batches that the program has already got
   */
  void begin(List<int[]> orders, int batch) {
    next = batch;
    for (int i = 0; i < readers.size(); i++) {
      if (!readers.get(i).begin(orders.get(i), this)) {
        end();
        return;
      }
      if (batch > 0) {
        readers.get(i).seek(batch * epoch.batchSize());
      }
    }
  }

  ProgramEpoch ofProgram() {
    return epoch;
  }

  /** Returns the number of batches that the program has got. */
  int batches() {
    return next;
  }

  /**
   * Whether caching became possible after this epoch began, and could start with its next batch.
   *
   * @param num number of examples that the program requests
   */
  boolean missesCaching(EpochEngine engine, int num) {
    if (cachesIfPossible || !engine.keepsBatches()) {
      return false;
    }
    endIfChanged();
    return !isOver() && isNext(num);
  }

  private boolean isOver() {
    return isOver || source.isOver();
  }

  /**
   * Whether this request continues the epoch as it began: with the same batch size, preprocessor
   * and reader positions.
   */
  private boolean isNext(int num) {
    int place = next * epoch.batchSize();
    return num == epoch.batchSize()
        && epoch.program().preprocessor() == preprocessor
        && readers.stream().allMatch(reader -> reader.isAt(place));
  }

  boolean isOf(Object other) {
    return epoch.program().wrapped() == other;
  }

  /** Whether a next batch is known to exist without reading its first record. */
  boolean hasNext() {
    endIfChanged();
    int place = next * epoch.batchSize();
    return !isOver()
        && place < readers.get(0).records()
        && readers.stream().anyMatch(SeekableReader::createsRecordToCheck)
        && readers.stream().allMatch(reader -> reader.isAt(place))
        && source.isKnown(next);
  }

  /**
   * Ends the epoch if a file has changed, or if the iterator now collects metadata; the library
   * then prepares the remaining batches.
   */
  private void endIfChanged() {
    if (!isOver()
        && (epoch.program().collectsMetadata()
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
    if (isOver()) {
      return null;
    }
    int place = next * epoch.batchSize();
    if (!isNext(num)) {
      end(); // From here on, the epoch differs from the one that began.
      return null;
    }
    long span = Spans.enter(SpanKind.TAKE, epoch.program().wrapped());
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
    readers.forEach(reader -> reader.seek(Math.min(place + epoch.batchSize(), reader.records())));
    source.used();
    try {
      source.finish(batch);
    } catch (RuntimeException | Error e) {
      return InterceptedCall.throwing(e);
    }
    epoch.program().replaced(batch);
    return new InterceptedCall(batch);
  }

  /** Called when the program resets the iterator, and with it the readers. */
  void reset() {
    end();
    readers.forEach(SeekableReader::close);
  }

  void end() {
    isOver = true;
    source.end();
  }
}
