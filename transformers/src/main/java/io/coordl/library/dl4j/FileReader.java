package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import java.io.File;
import java.net.URI;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.datavec.api.records.reader.BaseRecordReader;
import org.datavec.api.records.reader.impl.FileRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVSequenceRecordReader;
import org.datavec.api.records.reader.impl.regex.RegexSequenceRecordReader;
import org.datavec.api.split.InputSplit;
import org.datavec.api.split.NumberedFileInputSplit;
import org.datavec.api.util.files.UriFromPathIterator;
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
  boolean listsAll() {
    return Description.isOfLibrary(split.getClass().getName());
  }

  @Override
  List<?> all() {
    List<URI> all = new ArrayList<>();
    split.locationsIterator().forEachRemaining(all::add);
    return all;
  }

  @Override
  boolean isWhole(List<?> elements) {
    // A split's length may count other things, and listing its locations may be slow.
    return elements.size() == split.length() || elements.size() == split.locations().length;
  }

  @Override
  int[] numbersOf(List<?> elements) throws CannotShareException {
    int[] numbers = known.recordNumbers(split, elements);
    files = known.files();
    return numbers;
  }

  /**
   * Reuses the last list of numbered files, which never changes. Listing the files again would be
   * slow, because it would create each name anew.
   */
  @Override
  List<?> drain(Iterator<?> own) {
    List<?> last = known.lastListing(split);
    return last != null && isAtFirst(own) ? last : super.drain(own);
  }

  /** Whether an iterator covers the whole split from its start, in an order that cannot change. */
  private boolean isAtFirst(Iterator<?> own) {
    if (split.getClass() != NumberedFileInputSplit.class
        || own.getClass() != UriFromPathIterator.class) {
      return false;
    }
    try {
      Object numbers = field(UriFromPathIterator.class, "paths").require(own);
      return numbers.getClass().getName().endsWith("NumberedFileInputSplit$NumberedFileIterator")
          && field(numbers.getClass(), "this$0").get(numbers) == split
          && field(numbers.getClass(), "currIdx")
              .require(numbers)
              .equals(field(NumberedFileInputSplit.class, "minIdx").get(split));
    } catch (IllegalStateException e) {
      return false; // Another version has other fields.
    }
  }

  @Override
  @Nullable List<?> inOrderOf(int[] order) {
    List<File> epoch = files == null ? null : files.inOrderOf(order);
    return epoch == null ? null : ReaderFiles.uris(epoch);
  }

  @Override
  FileReader makeCopy() throws CannotShareException {
    FileRecordReader copy =
        reader instanceof CSVSequenceRecordReader
            ? new CSVSequenceRecordReader()
            : reader instanceof RegexSequenceRecordReader
                ? new RegexSequenceRecordReader("", 0)
                : new FileRecordReader();
    LibraryField.copyAll(reader, copy);
    return new FileReader(copy, known);
  }
}
