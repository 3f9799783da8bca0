package io.coordl.library.dl4j;

import io.coordl.library.Symbols;
import java.io.File;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.image.loader.BaseImageLoader;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.BaseImageRecordReader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.datavec.image.recordreader.objdetect.ObjectDetectionRecordReader;
import org.datavec.image.transform.ImageTransform;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.dataset.DataSet;

/**
 * The program's reader and iterator once more, to make any batch of a pass: the library's own code
 * with all that the program gave it (transform, labels, preprocessor), but over files of our
 * choice. What the program has is neither read nor changed meanwhile, so it may reset, initialise
 * or ask its own as it likes. Thread-safe; makes one batch at a time, since transforms and
 * preprocessors need not stand more.
 */
final class Pipeline {
  private static final String READER = "images";
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final ReentrantLock lock = new ReentrantLock();
  private final Field files;
  private final BaseImageRecordReader reader;
  private final RecordReaderMultiDataSetIterator several;
  private final @Nullable RecordReaderDataSetIterator one;
  private final int batchSize;

  /**
   * A copy.
   *
   * @param iterator the program's, of either class
   * @param own its reader
   * @param underlying what makes the batches of {@code iterator}, perhaps itself
   */
  Pipeline(Object iterator, BaseImageRecordReader own, RecordReaderMultiDataSetIterator underlying)
      throws ReflectiveOperationException {
    files = Symbols.field(BaseImageRecordReader.class, "iter", Iterator.class);
    batchSize = underlying.getBatchSize();
    reader =
        own instanceof ObjectDetectionRecordReader
            ? new ObjectDetectionRecordReader(1, 1, 1, 1, 1, null)
            : new ImageRecordReader();
    Members.copy(own, reader);
    files.set(reader, new PassFiles(List.of()));
    Field loader = Symbols.field(BaseImageRecordReader.class, "imageLoader", BaseImageLoader.class);
    loader.set(reader, loaderLike(own));

    several =
        new RecordReaderMultiDataSetIterator.Builder(batchSize)
            .addReader(READER, reader)
            .addInput(READER)
            .build();
    Members.copy(underlying, several);
    Map<String, RecordReader> readers = new HashMap<>();
    underlying.getRecordReaders().keySet().forEach(name -> readers.put(name, reader));
    Symbols.field(RecordReaderMultiDataSetIterator.class, "recordReaders", Map.class)
        .set(several, readers);
    one = iterator instanceof RecordReaderDataSetIterator program ? copy(program) : null;
  }

  private RecordReaderDataSetIterator copy(RecordReaderDataSetIterator program)
      throws ReflectiveOperationException {
    RecordReaderDataSetIterator copy = new RecordReaderDataSetIterator(reader, batchSize);
    Members.copy(program, copy);
    Class<?> type = RecordReaderDataSetIterator.class;
    Symbols.field(type, "recordReader", RecordReader.class).set(copy, reader);
    Symbols.field(type, "underlying", RecordReaderMultiDataSetIterator.class).set(copy, several);
    Symbols.field(type, "useCurrent", boolean.class).setBoolean(copy, false);
    Symbols.field(type, "last", DataSet.class).set(copy, null);
    return copy;
  }

  /** As the reader makes it; it is not to be shared, since it keeps a converter of images. */
  private static NativeImageLoader loaderLike(BaseImageRecordReader own)
      throws ReflectiveOperationException {
    Class<?> type = BaseImageRecordReader.class;
    return new NativeImageLoader(
        Symbols.field(type, "height", long.class).getLong(own),
        Symbols.field(type, "width", long.class).getLong(own),
        Symbols.field(type, "channels", long.class).getLong(own),
        (ImageTransform) Symbols.field(type, "imageTransform", ImageTransform.class).get(own));
  }

  /** The batch of these files, in their order; throws what the program's code throws. */
  Object make(List<File> batch) throws IllegalAccessException {
    lock();
    try {
      files.set(reader, new PassFiles(batch));
      return one != null ? one.next(batchSize) : several.next(batchSize);
    } finally {
      lock.unlock();
    }
  }

  /** An interrupt neither ends the wait nor is lost; whoever hangs in there is not waited for. */
  private void lock() {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    boolean interrupted = false;
    boolean got = false;
    long left;
    while (!got && (left = deadline - System.nanoTime()) > 0) {
      try {
        got = lock.tryLock(left, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (!got) {
      throw new IllegalStateException("another thread hangs in the pipeline");
    }
  }
}
