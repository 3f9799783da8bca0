package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import io.coordl.staging.BatchOrder;
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
 * {@code fit(iterator)} of a network whose steps are skipped: where the iterator stands on readers
 * that can be set to a record, and nothing on its way draws random numbers, the batches that were
 * used are not made again. Elsewhere they are, as the program made them then.
 */
final class SkippedEpochs {
  /** What the library puts around the iterator of the program, and the field that has it. */
  private static final Map<String, String> WRAPPERS =
      Map.of(
          "org.nd4j.linalg.dataset.adapter.MultiDataSetIteratorAdapter", "iter",
          "org.deeplearning4j.datasets.iterator.MultiDataSetWrapperIterator", "iterator");

  private final ProgramReaders readers = new ProgramReaders();

  /**
   * An epoch is about to begin.
   *
   * @param resumed has steps left to skip
   * @return null if the library is to go through the epoch, from where its readers are
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
      resumed.makesAgain(String.valueOf(e.getMessage()));
    } catch (NoSuchFieldException e) {
      resumed.makesAgain(given.getClass().getName());
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
      throw new CannotShareException("a network with truncated backpropagation");
    }
    ProgramIterator program = new ProgramIterator(iterator);
    if (!program.isIntercepted()) {
      throw new CannotShareException("iterators with a limit, or with metadata");
    }
    Object preprocessor = program.preprocessor();
    String does = preprocessor == null ? "" : preprocessor.getClass().getName();
    // Those that stand on others may stand on the program's.
    if (preprocessor != null && (!does.startsWith("org.nd4j.") || does.contains(".Com"))) {
      throw new CannotShareException("a preprocessor of the program's own");
    }
    for (RecordReader reader : program.readers().values()) {
      requireNoDraws(reader);
    }
    ready(iterator);
    RecordReaderMultiDataSetIterator arrays = program.arrays();
    if (arrays == null || program.hasBatchAtHand()) {
      throw new CannotShareException("an iterator that has made a batch");
    }
    if (program.beginsAtRandom()) {
      throw new CannotShareException("time series that begin at random");
    }
    Collection<SeekableReader> found = readers.of(program).values();
    List<int[]> orders = ProgramReaders.orders(found);
    if (orders == null) {
      throw new CannotShareException("an epoch that has begun before");
    }
    return skip(resumed, found, orders, arrays.getBatchSize());
  }

  /** As the library does when an epoch begins; the second time it does nothing. */
  private static void ready(Object iterator) {
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
    // The last step's batch is made: it tells whether the data are what they were.
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
   * @return false if a file has changed meanwhile: all are at the beginning then
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
