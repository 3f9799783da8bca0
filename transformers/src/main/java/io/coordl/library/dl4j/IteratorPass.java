package io.coordl.library.dl4j;

import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.staging.CoordinatedPass;
import io.coordl.staging.StagedBatch;
import java.io.File;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A pass of the program's iterator that is shared with other jobs. Used as the iterator is. */
final class IteratorPass {
  private final Object iterator;
  private final CoordinatedPass pass;
  private final Pipeline pipeline;
  private final Ending ending;
  private final int batchSize;
  private final @Nullable Object preprocessor;
  private Cleaner.@Nullable Cleanable cleanable;
  private boolean over;

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
   * @param batchSize files of each batch but the last one
   * @param preprocessor that the iterator has
   */
  IteratorPass(
      Object iterator,
      CoordinatedPass pass,
      Pipeline pipeline,
      Preparation preparation,
      int batchSize,
      @Nullable Object preprocessor) {
    this.iterator = iterator;
    this.pass = pass;
    this.pipeline = pipeline;
    this.ending = new Ending(pass, preparation);
    this.batchSize = batchSize;
    this.preprocessor = preprocessor;
  }

  /** Sees to it that the pass ends when the program has dropped these files, its own of it. */
  void endWith(PassFiles files, Cleaner cleaner) {
    cleanable = cleaner.register(files, ending);
  }

  boolean isOf(Object other) {
    return iterator == other;
  }

  /**
   * The next batch as the iterator would have made it, and the files it is made of taken; null if
   * the library is to make it, and all that follow.
   *
   * @param num how many examples the program asks for
   * @param current the iterator's preprocessor now
   */
  @Nullable Object next(PassFiles files, int num, @Nullable Object current) throws IOException {
    if (over || !files.hasNext()) {
      return null;
    }
    if (num != batchSize || files.taken() % batchSize != 0 || current != preprocessor) {
      end(); // From here on it is no pass of the pipeline that the jobs share.
      return null;
    }
    long span = Spans.enter(SpanKind.TAKE, iterator);
    Object batch = null;
    try {
      batch = batch(files.taken() / batchSize, files.peek(batchSize));
    } finally {
      Spans.exit(span, batch);
    }
    if (batch == null) {
      end();
      return null;
    }
    files.take(batchSize);
    if (!files.hasNext()) {
      end();
    }
    return batch;
  }

  /** Null if the program's code throws: it is then the library's own call that throws. */
  private @Nullable Object batch(int number, List<File> files) throws IOException {
    StagedBatch staged = pass.take(number);
    if (staged != null) {
      return BatchBytes.read(staged.bytes());
    }
    try {
      return pipeline.make(files);
    } catch (Exception | LinkageError e) {
      return null;
    }
  }

  /** No more batches are taken; the second call does nothing. */
  void end() {
    over = true;
    if (cleanable != null) {
      cleanable.clean();
    }
  }
}
