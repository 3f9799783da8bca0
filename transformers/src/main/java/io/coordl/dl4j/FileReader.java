package io.coordl.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import java.io.File;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.datavec.api.records.reader.BaseRecordReader;
import org.datavec.api.records.reader.impl.FileRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVSequenceRecordReader;
import org.datavec.api.split.InputSplit;
import org.jspecify.annotations.Nullable;

/** A reader of one record, or one sequence, per file. */
final class FileReader extends ListedReader {
  private final FileRecordReader reader;
  private final InputSplit split;
  private final ReaderFiles known;

  FileReader(FileRecordReader reader, ReaderFiles known) throws CannotShareException {
    super(reader, field(FileRecordReader.class, "locationsIterator"));
    this.reader = reader;
    this.known = known;
    Object given = field(BaseRecordReader.class, "inputSplit").get(reader);
    if (given == null || field(FileRecordReader.class, "locationsIterator").get(reader) == null) {
      throw new CannotShareException("readers that are not initialised");
    }
    this.split = (InputSplit) given;
    ReaderFiles.requireFiles(reader);
  }

  @Override
  List<?> all() {
    List<URI> all = new ArrayList<>();
    split.locationsIterator().forEachRemaining(all::add);
    return all;
  }

  @Override
  boolean isWhole(List<?> elements) {
    // What a split calls its length may be another one; its locations may be long to make.
    return elements.size() == split.length() || elements.size() == split.locations().length;
  }

  @Override
  int @Nullable [] numbersOf(List<?> elements) throws CannotShareException {
    List<File> epoch = ReaderFiles.files(elements);
    files = known.filesOf(reader, epoch);
    return files.numbersOf(epoch);
  }

  @Override
  @Nullable List<?> inOrderOf(int[] order) {
    List<File> epoch = files == null ? null : files.inOrderOf(order);
    return epoch == null ? null : ReaderFiles.uris(epoch);
  }

  @Override
  FileReader makeCopy() throws ReflectiveOperationException, CannotShareException {
    FileRecordReader copy =
        reader instanceof CSVSequenceRecordReader
            ? new CSVSequenceRecordReader()
            : new FileRecordReader();
    LibraryField.copyAll(reader, copy);
    return new FileReader(copy, known);
  }
}
