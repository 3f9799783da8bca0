package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import java.io.IOException;
import java.util.Map;
import java.util.stream.Stream;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.SequenceRecordReader;
import org.datavec.api.records.reader.impl.transform.TransformProcessRecordReader;
import org.datavec.api.records.reader.impl.transform.TransformProcessSequenceRecordReader;
import org.datavec.api.transform.DataAction;
import org.datavec.api.transform.TransformProcess;
import org.jspecify.annotations.Nullable;

/**
 * A reader that applies a {@code TransformProcess} to each record of another reader. Supports only
 * library transforms without state or random numbers, and no filters, so that each record gives
 * exactly one result.
 */
final class TransformedReader extends SeekableReader {
  private final RecordReader reader;
  private final SeekableReader inner;
  private final TransformProcess process;
  private final ReaderFiles known;

  /** Throws if the process has steps other than transforms, or transforms of the program. */
  TransformedReader(RecordReader reader, SeekableReader inner, ReaderFiles known)
      throws CannotShareException {
    super(reader);
    this.known = known;
    this.reader = reader;
    this.inner = inner;
    Object own = field(reader.getClass(), "transformProcess").get(reader);
    if (!(own instanceof TransformProcess steps)) {
      throw new CannotShareException("readers without a TransformProcess");
    }
    this.process = steps;
    for (DataAction action : steps.getActionList()) {
      Object transform = action.getTransform();
      if (transform == null) {
        Object filter = action.getFilter();
        throw new CannotShareException(
            filter == null
                ? "a TransformProcess with a step that is not a transform"
                : String.format(
                    "a TransformProcess with %s (which may drop records)",
                    filter.getClass().getName()));
      }
      if (!transform.getClass().getName().startsWith("org.datavec.")) {
        throw new CannotShareException(
            String.format(
                "a TransformProcess with transforms of the program (such as %s)",
                transform.getClass().getName()));
      }
    }
  }

  /** Returns the reader at the end of a chain of such readers; else {@code reader} itself. */
  static RecordReader innermost(RecordReader reader) {
    RecordReader at = reader;
    while (at instanceof TransformProcessRecordReader
        || at instanceof TransformProcessSequenceRecordReader) {
      at = innerOf(at);
    }
    return at;
  }

  /** Returns the reader that such a reader wraps. */
  static RecordReader innerOf(RecordReader reader) {
    return (RecordReader) innerField(reader).require(reader);
  }

  private static LibraryField<Object> innerField(RecordReader reader) {
    return reader instanceof TransformProcessRecordReader
        ? field(TransformProcessRecordReader.class, "recordReader")
        : field(TransformProcessSequenceRecordReader.class, "sequenceRecordReader");
  }

  /** 1 if hasNext() has already buffered a record, else 0. */
  private int buffered() {
    return reader instanceof TransformProcessRecordReader
            && field(TransformProcessRecordReader.class, "next").get(reader) != null
        ? 1
        : 0;
  }

  private void dropBuffered() {
    if (reader instanceof TransformProcessRecordReader) {
      field(TransformProcessRecordReader.class, "next").set(reader, null);
    }
  }

  @Override
  Stream<RecordReader> readers() {
    return Stream.concat(super.readers(), inner.readers());
  }

  @Override
  @Nullable EpochRecords<?> current() {
    return inner.current();
  }

  @Override
  int peeked() {
    return inner.peeked() + buffered();
  }

  @Override
  @Nullable Object iterator() {
    return inner.iterator();
  }

  @Override
  int @Nullable [] order(int taken) throws CannotShareException {
    return inner.order(taken + buffered());
  }

  @Override
  boolean begin(int[] order, @Nullable IteratorEpoch shared) {
    boolean begun = inner.begin(order, shared);
    if (begun) {
      dropBuffered();
    }
    return begun;
  }

  @Override
  int records() {
    return inner.records();
  }

  @Override
  void seek(int place) {
    inner.seek(place);
    dropBuffered();
  }

  @Override
  TransformedReader makeCopy() throws CannotShareException {
    SeekableReader below = inner.copy();
    RecordReader copy =
        reader instanceof TransformProcessRecordReader
            ? new TransformProcessRecordReader(below.reader(), process)
            : new TransformProcessSequenceRecordReader(
                (SequenceRecordReader) below.reader(), process);
    return new TransformedReader(copy, below, known);
  }

  @Override
  @Nullable DataFiles files() {
    return inner.files();
  }

  @Override
  String content() {
    return inner.content();
  }

  @Override
  boolean isSteady() {
    return known.isDescribed(process) && inner.isSteady();
  }

  @Override
  void opened() throws CannotShareException {
    inner.opened();
  }

  @Override
  boolean isUnchanged() {
    return inner.isUnchanged();
  }

  @Override
  void giveBack() {
    inner.giveBack();
  }

  @Override
  void close() {
    inner.close();
  }

  @Override
  boolean createsRecordToCheck() {
    return true;
  }

  @Override
  String firstFile() {
    return inner.firstFile();
  }

  @Override
  boolean isShuffled() {
    return inner.isShuffled();
  }

  @Override
  @Nullable String reasonNotToKeep() {
    return inner.reasonNotToKeep();
  }

  @Override
  void describe(Map<String, String> parts, String prefix) throws CannotShareException, IOException {
    inner.describe(parts, prefix);
    parts.put(prefix + "transform process", known.describe(process));
  }
}
