package io.coordl.library.dl4j;

import io.coordl.bridge.LibraryCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.library.Services;
import java.io.IOException;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.datavec.api.records.reader.RecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.jspecify.annotations.Nullable;

/**
 * {@code next(int)} and {@code reset()} of {@code RecordReaderDataSetIterator} and {@code
 * RecordReaderMultiDataSetIterator}: over one reader of images, passes are shared. Other readers
 * are left alone, and that is said once.
 */
public final class PassAnswers implements LibraryHooks {
  /** By name: a program without images lacks the classes. */
  private static final Set<String> IMAGE_READERS =
      Set.of(
          "org.datavec.image.recordreader.ImageRecordReader",
          "org.datavec.image.recordreader.objdetect.ObjectDetectionRecordReader");

  private final Class<?> declaring;
  private final Services services;
  private final Consumer<String> leave;
  private @Nullable ImagePasses images;
  private boolean unfit;

  /**
   * Answers for both classes of iterators.
   *
   * @param declaring the iterator of several arrays
   */
  public PassAnswers(Class<?> declaring, Services services) {
    this.declaring = declaring;
    this.services = services;
    Set<String> said = ConcurrentHashMap.newKeySet();
    this.leave =
        what -> {
          if (said.add(what)) {
            services.words().accept("prep=coordinate leaves " + what + " to DL4J.");
          }
        };
  }

  @Override
  public @Nullable LibraryCall enter(
      String answer, Class<?> type, String method, Object self, Object[] arguments) {
    RecordReader reader = readerOf(self);
    ImagePasses passes = reader == null ? null : images();
    if (reader == null || passes == null) {
      return null;
    }
    try {
      if (method.equals("reset")) {
        passes.reset(self, reader);
        return null;
      }
      Object batch = passes.next(self, reader, (Integer) arguments[0]);
      return batch == null ? null : new Call(batch);
    } catch (ReflectiveOperationException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The iterator's only reader, if it is one of images. */
  private @Nullable RecordReader readerOf(Object iterator) {
    RecordReader reader;
    if (iterator instanceof RecordReaderMultiDataSetIterator several) {
      Collection<RecordReader> readers = several.getRecordReaders().values();
      if (readers.size() != 1 || !several.getSequenceRecordReaders().isEmpty()) {
        leave.accept("iterators over several readers, or over sequences,");
        return null;
      }
      reader = readers.iterator().next();
    } else {
      reader = ((RecordReaderDataSetIterator) iterator).getRecordReader();
    }
    if (IMAGE_READERS.contains(reader.getClass().getName())) {
      return reader;
    }
    if (iterator instanceof RecordReaderMultiDataSetIterator) { // The other one stands on it.
      leave.accept("readers of class " + reader.getClass().getName());
    }
    return null;
  }

  private synchronized @Nullable ImagePasses images() {
    if (images == null && !unfit) {
      try {
        images = new ImagePasses(declaring, services, leave);
      } catch (ReflectiveOperationException | IOException | RuntimeException | LinkageError e) {
        unfit = true;
        leave.accept("image readers that are not as expected (" + e + ")");
      }
    }
    return images;
  }

  /** A batch that was made in the call's stead. */
  private static final class Call extends LibraryCall {
    private final Object batch;

    Call(Object batch) {
      this.batch = batch;
    }

    @Override
    public boolean answered() {
      return true;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      return batch;
    }
  }
}
