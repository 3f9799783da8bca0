package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.coordination.BatchOrder;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.datavec.api.records.reader.RecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.deeplearning4j.datasets.datavec.SequenceRecordReaderDataSetIterator;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator;

/**
 * Handles {@code fit(iterator)} of a network whose steps are skipped. If the iterator wraps readers
 * that can seek, and none of its code draws random numbers, the used batches are not prepared
 * again. Otherwise they are prepared as in the earlier job.
 */
final class SkippedEpochs {
  /**
   * Classes that the library wraps around the program's iterator, and their fields that refer to
   * it.
   */
  private static final Map<String, String> WRAPPERS =
      Map.of(
          "org.nd4j.linalg.dataset.adapter.MultiDataSetIteratorAdapter", "iter",
          "org.deeplearning4j.datasets.iterator.MultiDataSetWrapperIterator", "iterator");

  private final ProgramReaders readers = new ProgramReaders();

  /**
   * Called before an epoch begins.
   *
   * @param resumed a network with steps to skip
   * @return null if the library must run the epoch, from the current position of its readers
   */
  @Nullable InterceptedCall skip(ResumedNetwork resumed, Object given) {
    Object iterator = given;
    try {
      String field = WRAPPERS.get(given.getClass().getName());
      if (field != null) {
        iterator = LibraryField.of(given.getClass(), field).require(given);
      }
      return skipKnown(resumed, iterator);
    } catch (CannotShareException e) {
      resumed.preparesAgain(String.valueOf(e.getMessage()));
    } catch (NoSuchFieldException e) {
      resumed.preparesAgain(given.getClass().getName());
    }
    return null;
  }

  private @Nullable InterceptedCall skipKnown(ResumedNetwork resumed, Object iterator)
      throws CannotShareException {
    Class<?> type = iterator.getClass();
    if (type != RecordReaderDataSetIterator.class
        && type != RecordReaderMultiDataSetIterator.class
        && type != SequenceRecordReaderDataSetIterator.class) {
      throw new CannotShareException("iterators of class " + type.getName());
    }
    if (resumed.hasSeveralStepsABatch()) {
      throw new CannotShareException("an iterator for a network with truncated backpropagation");
    }
    ProgramIterator program = new ProgramIterator(iterator);
    if (!program.isIntercepted()) {
      throw new CannotShareException("iterators with a limit, or with metadata");
    }
    Object preprocessor = program.preprocessor();
    String preprocessorName = preprocessor == null ? "" : preprocessor.getClass().getName();
    // Preprocessors that combine others may contain the program's.
    if (preprocessor != null
        && (!preprocessorName.startsWith("org.nd4j.") || preprocessorName.contains(".Com"))) {
      throw new CannotShareException("a preprocessor of the program's own");
    }
    for (RecordReader reader : program.readers().values()) {
      requireNoDraws(reader);
    }
    initialise(iterator);
    RecordReaderMultiDataSetIterator arrays = program.arrays();
    if (arrays == null || program.hasBatchAtHand()) {
      throw new CannotShareException("an iterator that has already prepared a batch");
    }
    if (program.beginsAtRandom()) {
      throw new CannotShareException("time series that begin at random places");
    }
    Collection<SeekableReader> found = readers.of(program).values();
    List<int[]> orders = ProgramReaders.orders(found, 0);
    if (orders == null) {
      throw new CannotShareException("an epoch that had already begun");
    }
    return skip(resumed, found, orders, arrays.getBatchSize());
  }

  /**
   * Initialises the iterator as the library does when an epoch begins; a second call has no effect.
   */
  private static void initialise(Object iterator) {
    if (iterator instanceof DataSetIterator one) {
      if (one.resetSupported() && !one.hasNext()) {
        one.reset();
      }
    } else if (iterator instanceof MultiDataSetIterator several
        && !several.hasNext()
        && several.resetSupported()) {
      several.reset();
    }
  }

  private static void requireNoDraws(RecordReader reader) throws CannotShareException {
    for (LibraryField<Object> field :
        LibraryField.all(
            reader.getClass(), Object.class, field -> field.getName().equals("imageTransform"))) {
      if (field.get(reader) != null) {
        throw new CannotShareException("an image transform, which may draw random numbers");
      }
    }
  }

  private static @Nullable InterceptedCall skip(
      ResumedNetwork resumed, Collection<SeekableReader> readers, List<int[]> orders, int size)
      throws CannotShareException {
    int records = orders.get(0).length;
    int batches = BatchOrder.batches(records, size);
    // The batch of the last step is prepared, to check whether the data are unchanged.
    long skipped = Math.min(batches, resumed.left() - 1);
    if (!place(readers, orders, (int) Math.min(skipped * size, records))) {
      throw new CannotShareException("a file that changes as the epoch begins");
    }
    resumed.skip(skipped);
    return skipped == batches ? InterceptedCall.skipping() : null;
  }

  /**
   * Sets all readers to a record.
   *
   * @return false if a file has changed; all readers are then at the start
   */
  static boolean place(Collection<SeekableReader> readers, List<int[]> orders, int record) {
    int reader = 0;
    for (SeekableReader seekable : readers) {
      if (!seekable.begin(orders.get(reader), null)) {
        return false;
      }
      reader++;
    }
    readers.forEach(seekable -> seekable.seek(record));
    return true;
  }
}
