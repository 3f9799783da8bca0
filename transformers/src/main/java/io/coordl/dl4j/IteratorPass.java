package io.coordl.dl4j;

import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.staging.CoordinatedPass;
import io.coordl.staging.StagedBatch;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pass of the program's iterator that is shared with other jobs; the program's readers hold it.
 * Used as the iterator is.
 */
final class IteratorPass {
  private final ProgramIterator iterator;
  private final List<SeekableReader> readers;
  private final CoordinatedPass pass;
  private final Pipeline pipeline;
  private final int batchSize;
  private final @Nullable Object preprocessor;
  private final Cleaner.Cleanable cleanable;
  private boolean over;
  private int next;

  /** What remains to be done; refers to nothing of the program. */
  record Ending(CoordinatedPass pass, Preparation preparation) implements Runnable {
    @Override
    public void run() {
      pass.end();
      preparation.end();
    }
  }

  /**
   * A pass that begins.
   *
   * @param readers of the program
   * @param batchSize records of each reader in each batch but the last one
   * @param cleaner ends the pass when the program has dropped its readers
   */
  IteratorPass(
      ProgramIterator iterator,
      List<SeekableReader> readers,
      CoordinatedPass pass,
      Pipeline pipeline,
      Preparation preparation,
      int batchSize,
      Cleaner cleaner) {
    this.iterator = iterator;
    this.readers = readers;
    this.pass = pass;
    this.pipeline = pipeline;
    this.batchSize = batchSize;
    this.preprocessor = iterator.preprocessor();
    this.cleanable = cleaner.register(this, new Ending(pass, preparation));
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
    if (over) {
      return null;
    }
    int place = next * batchSize;
    if (num != batchSize
        || iterator.preprocessor() != preprocessor
        || !readers.stream().allMatch(reader -> reader.isAt(place))) {
      end(); // From here on it is no pass of the pipeline that the jobs share.
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
    boolean more = false;
    for (SeekableReader reader : readers) {
      reader.seek(Math.min(place + batchSize, reader.records()));
      more = place + batchSize < reader.records();
    }
    if (!more) {
      end();
    }
    iterator.answered(batch);
    return batch;
  }

  /** Null if the program's code throws: it is then the library's own call that throws. */
  private @Nullable Object batch() throws IOException {
    StagedBatch staged = pass.take(next);
    if (staged != null) {
      return BatchBytes.read(staged.bytes());
    }
    try {
      return pipeline.make(next);
    } catch (Exception | LinkageError e) {
      return null;
    }
  }

  /** No more batches are taken; the second call does nothing. */
  void end() {
    over = true;
    cleanable.clean();
  }
}
