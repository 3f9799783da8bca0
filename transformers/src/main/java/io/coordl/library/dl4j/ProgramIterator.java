package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.Symbols;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.SequenceRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.deeplearning4j.datasets.datavec.SequenceRecordReaderDataSetIterator;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.MultiDataSet;
import org.nd4j.linalg.dataset.api.MultiDataSetPreProcessor;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;

/**
 * One of the library's iterators over readers, or the agent's copy of one. A {@code
 * DataSetIterator} wraps a {@code RecordReaderMultiDataSetIterator}, which it creates with its
 * first batch.
 */
record ProgramIterator(Object wrapped) {
  private static final Class<?> SEVERAL = RecordReaderMultiDataSetIterator.class;
  private static final String UNDERLYING = "underlying";

  static void require() throws NoSuchFieldException {
    Symbols.field(SEVERAL, "recordReaders", Map.class);
    Symbols.field(SEVERAL, "sequenceRecordReaders", Map.class);
    Symbols.field(SEVERAL, "timeSeriesRandomOffset", boolean.class);
    Class<?> one = RecordReaderDataSetIterator.class;
    Class<?> sequences = SequenceRecordReaderDataSetIterator.class;
    Symbols.field(one, UNDERLYING, SEVERAL);
    Symbols.field(one, "recordReader", RecordReader.class);
    Symbols.field(one, "useCurrent", boolean.class);
    Symbols.field(one, "last", DataSet.class);
    Symbols.field(one, "maxNumBatches", int.class);
    Symbols.field(sequences, UNDERLYING, SEVERAL);
    Symbols.field(sequences, "recordReader", SequenceRecordReader.class);
    Symbols.field(sequences, "labelsReader", SequenceRecordReader.class);
    Symbols.field(sequences, "useStored", boolean.class);
    Symbols.field(sequences, "stored", DataSet.class);
    Symbols.field(sequences, "inputColumns", int.class);
    Symbols.field(sequences, "totalOutcomes", int.class);
  }

  /** Returns its library class. */
  private Class<?> type() {
    return wrapped instanceof RecordReaderDataSetIterator
        ? RecordReaderDataSetIterator.class
        : isOfSequences() ? SequenceRecordReaderDataSetIterator.class : SEVERAL;
  }

  private @Nullable Object value(String field) {
    return SeekableReader.field(type(), field).get(wrapped);
  }

  private void set(String field, @Nullable Object value) {
    SeekableReader.field(type(), field).set(wrapped, value);
  }

  private boolean isOfSequences() {
    return wrapped instanceof SequenceRecordReaderDataSetIterator;
  }

  private boolean isOfDataSets() {
    return wrapped instanceof DataSetIterator;
  }

  /** Whether it has already prepared its next batch. */
  boolean hasBatchAtHand() {
    return isOfDataSets()
        && Boolean.TRUE.equals(value(isOfSequences() ? "useStored" : "useCurrent"));
  }

  /**
   * Whether it is intercepted itself; otherwise it calls the intercepted iterator that it wraps.
   */
  boolean isIntercepted() {
    return !isOfDataSets()
        || (wrapped.getClass() == type()
            && !collectsMetadata()
            && (isOfSequences() || (Integer) Objects.requireNonNull(value("maxNumBatches")) < 0));
  }

  /** Whether its batches contain more than arrays. */
  boolean collectsMetadata() {
    return wrapped instanceof RecordReaderDataSetIterator one
        ? one.isCollectMetaData()
        : wrapped instanceof SequenceRecordReaderDataSetIterator sequences
            ? sequences.isCollectMetaData()
            : ((RecordReaderMultiDataSetIterator) wrapped).isCollectMetaData();
  }

  /** Returns the iterator that creates its arrays, possibly itself; null before the first batch. */
  @Nullable RecordReaderMultiDataSetIterator arrays() {
    return (RecordReaderMultiDataSetIterator) (isOfDataSets() ? value(UNDERLYING) : wrapped);
  }

  /** Whether time series in its arrays, which must exist, begin at random places. */
  boolean beginsAtRandom() {
    Object arrays = Objects.requireNonNull(arrays());
    return Boolean.TRUE.equals(SeekableReader.field(SEVERAL, "timeSeriesRandomOffset").get(arrays));
  }

  Map<String, RecordReader> readers() {
    Map<String, RecordReader> readers = new TreeMap<>();
    RecordReaderMultiDataSetIterator arrays = arrays();
    if (arrays != null) {
      readers.putAll(arrays.getRecordReaders());
      readers.putAll(arrays.getSequenceRecordReaders());
      return readers;
    }
    for (String field :
        isOfSequences() ? List.of("recordReader", "labelsReader") : List.of("recordReader")) {
      if (value(field) instanceof RecordReader reader) {
        readers.put(field, reader);
      }
    }
    return readers;
  }

  /** Returns its readers of the program's own classes, including those that a transform reads. */
  List<RecordReader> ownReaders() {
    return readers().values().stream()
        .map(TransformedReader::innermost)
        .filter(reader -> OwnSource.isOwn(reader.getClass()))
        .toList();
  }

  /**
   * Prepares it as the request for its first batch would, by reading a record and resetting the
   * readers; returns false on failure.
   */
  boolean makeReady() {
    DataSetIterator ofDataSets = (DataSetIterator) wrapped;
    return isOfSequences() ? ofDataSets.hasNext() : ofDataSets.resetSupported();
  }

  /** Returns the preprocessor that the program has set. */
  @Nullable Object preprocessor() {
    return wrapped instanceof RecordReaderMultiDataSetIterator several
        ? several.getPreProcessor()
        : ((DataSetIterator) wrapped).getPreProcessor();
  }

  /** Applies the program's preprocessor to a batch; exceptions of the preprocessor propagate. */
  void preprocess(Object batch) {
    Object own = preprocessor();
    if (own instanceof MultiDataSetPreProcessor several && batch instanceof MultiDataSet made) {
      several.preProcess(made);
    } else if (own instanceof DataSetPreProcessor one && batch instanceof DataSet made) {
      one.preProcess(made);
    }
  }

  /** Removes the preprocessor; returns this iterator. */
  ProgramIterator removePreprocessor() {
    if (wrapped instanceof RecordReaderMultiDataSetIterator several) {
      several.setPreProcessor(null);
    } else {
      ((DataSetIterator) wrapped).setPreProcessor(null);
    }
    return this;
  }

  /** Called after the agent has prepared a batch in the iterator's place. */
  void replaced(Object batch) {
    if (isOfSequences()
        && Integer.valueOf(-1).equals(value("totalOutcomes"))
        && batch instanceof DataSet made) {
      set("inputColumns", (int) made.getFeatures().size(1));
      set("totalOutcomes", made.getLabels() == null ? -1 : (int) made.getLabels().size(1));
    }
  }

  /** Copies the iterator with all of the program's settings, over other readers of these names. */
  ProgramIterator copy(Map<String, RecordReader> readers) {
    RecordReaderMultiDataSetIterator own = Objects.requireNonNull(arrays());
    int batchSize = own.getBatchSize();
    Map<String, RecordReader> ofRecords = new HashMap<>(own.getRecordReaders());
    Map<String, SequenceRecordReader> ofSequences = new HashMap<>(own.getSequenceRecordReaders());
    ofRecords.replaceAll((name, reader) -> Objects.requireNonNull(readers.get(name)));
    ofSequences.replaceAll(
        (name, reader) -> (SequenceRecordReader) Objects.requireNonNull(readers.get(name)));
    RecordReader first = readers.values().iterator().next();
    RecordReaderMultiDataSetIterator several =
        new RecordReaderMultiDataSetIterator.Builder(batchSize)
            .addReader("", first)
            .addInput("")
            .build();
    LibraryField.copyAll(own, several);
    SeekableReader.field(SEVERAL, "recordReaders").set(several, ofRecords);
    SeekableReader.field(SEVERAL, "sequenceRecordReaders").set(several, ofSequences);
    if (!isOfDataSets()) {
      return new ProgramIterator(several);
    }
    ProgramIterator copy =
        new ProgramIterator(
            isOfSequences()
                ? new SequenceRecordReaderDataSetIterator(
                    (SequenceRecordReader) first, batchSize, -1, -1)
                : new RecordReaderDataSetIterator(first, batchSize));
    LibraryField.copyAll(wrapped, copy.wrapped);
    copy.set(UNDERLYING, several);
    copy.set("recordReader", first);
    if (isOfSequences()) {
      copy.set("labelsReader", null); // No longer used once the arrays exist.
      copy.set("useStored", false);
      copy.set("stored", null);
    } else {
      copy.set("useCurrent", false);
      copy.set("last", null);
    }
    return copy;
  }

  /** Returns its next batch; exceptions of the program's code propagate. */
  Object next(int examples) {
    return wrapped instanceof RecordReaderMultiDataSetIterator several
        ? several.next(examples)
        : ((DataSetIterator) wrapped).next(examples);
  }

  /** Describes how it turns records into batches, part by part, except the preprocessor. */
  void describe(Map<String, String> parts) throws CannotShareException {
    RecordReaderMultiDataSetIterator arrays = Objects.requireNonNull(arrays());
    parts.put("iterator", wrapped.getClass().getSimpleName());
    parts.put("batch size", Integer.toString(arrays.getBatchSize()));
    parts.put(
        "arrays", part(SEVERAL, arrays, "inputs") + " and " + part(SEVERAL, arrays, "outputs"));
    parts.put("alignment of sequences", part(SEVERAL, arrays, "alignmentMode"));
    if (isOfDataSets()) {
      parts.put("label column", part(type(), wrapped, "labelIndex"));
      if (!isOfSequences()) {
        parts.put("last label column", part(type(), wrapped, "labelIndexTo"));
      }
      parts.put("classes", part(type(), wrapped, "numPossibleLabels"));
      parts.put("regression", part(type(), wrapped, "regression"));
      parts.put(
          "inner preprocessor", Description.of("inner preprocessor", arrays.getPreProcessor()));
    }
  }

  private static String part(Class<?> owner, Object object, String field)
      throws CannotShareException {
    return Description.of(
        SeekableReader.spaced(field), SeekableReader.field(owner, field).get(object));
  }
}
