package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.datavec.api.records.reader.impl.LineRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVLineSequenceRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRegexRecordReader;
import org.datavec.api.records.reader.impl.csv.SerializableCSVParser;
import org.datavec.api.records.reader.impl.misc.SVMLightRecordReader;
import org.datavec.api.records.reader.impl.regex.RegexLineRecordReader;
import org.jspecify.annotations.Nullable;
import org.nd4j.common.function.Function;

/**
 * A reader of one record per line, from one or several files. An index of the lines gives the
 * number of records and the start of each batch. Each job reads whole files for the index, and then
 * only the lines of the batches that it prepares.
 *
 * <p>Not supported: files without records, and SVMLight files with comments, because the library
 * counts their records differently; and charsets whose lines cannot be found without decoding.
 */
final class LineReader extends SeekableReader {
  private static final Class<?> TYPE = LineRecordReader.class;

  private final LineRecordReader reader;
  private final ReaderFiles known;
  private final Function<URI, InputStream> opener;
  private final LibraryField<Object> iterator = field(TYPE, "iter");
  private final LibraryField<Object> locations = field(TYPE, "locations");
  private final LibraryField<Object> splitIndex = field(TYPE, "splitIndex");
  private final LibraryField<Object> lineIndex = field(TYPE, "lineIndex");
  private @Nullable Lines lines;

  LineReader(LineRecordReader reader, ReaderFiles known) throws CannotShareException {
    super(reader);
    this.reader = reader;
    this.known = known;
    this.opener = ReaderFiles.requireFiles(reader);
    Object uris = locations.get(reader);
    if (uris == null || iterator.get(reader) == null) {
      throw new CannotShareException("readers of streams");
    }
    if (!LineIndex.knows(charset())) {
      throw new CannotShareException("readers of " + charset());
    }
  }

  private Charset charset() {
    return Charset.forName(reader.getCharset());
  }

  /** Returns the number of lines at the start of each file that are not records. */
  private int skipped() {
    if (reader instanceof CSVRecordReader) {
      return number(field(CSVRecordReader.class, "skipNumLines"));
    }
    return reader instanceof RegexLineRecordReader
        ? number(field(RegexLineRecordReader.class, "skipNumLines"))
        : 0;
  }

  private int number(LibraryField<Object> field) {
    return (Integer) field.require(reader);
  }

  @Override
  @Nullable EpochRecords<?> current() {
    return iterator.get(reader) instanceof EpochRecords<?> now ? now : null;
  }

  @Override
  @Nullable Object iterator() {
    return iterator.get(reader);
  }

  @Override
  int @Nullable [] order(int taken) throws CannotShareException {
    if (number(splitIndex) != 0 || number(lineIndex) != linesTaken() + taken) {
      return null;
    }
    List<URI> uris = List.of((URI[]) locations.require(reader));
    List<File> epoch = ReaderFiles.files(uris);
    int skipped = skipped();
    if (epoch.size() > 1 && skipped > 0 && reader instanceof RegexLineRecordReader) {
      throw new CannotShareException("RegexLineRecordReader that skips lines of several files");
    }
    ReaderFiles.requireFiles(epoch);
    if (!known.isAsOpened(epoch.get(0), taken > 0)) {
      return null; // The library has another file open, or read part of this one before it changed.
    }
    long all = 0;
    for (File file : epoch) {
      all += linesOf(file);
      if (linesOf(file) <= skipped) {
        throw new CannotShareException("readers of files without records (such as " + file + ")");
      }
      if (all > LineIndex.maxLines()) {
        throw new CannotShareException(
            String.format(
                "readers of more than %,d lines (whose order does not fit into the heap of %,d"
                    + " MiB)",
                LineIndex.maxLines(), Runtime.getRuntime().maxMemory() >> 20));
      }
    }
    if (reader instanceof SVMLightRecordReader
        && uris.stream().anyMatch(uri -> known.lines.of(uri, opener).hasHashes())) {
      throw new CannotShareException("SVMLightRecordReader of files with comments");
    }
    files = new DataFiles(epoch, file -> linesOf(file) - skipped);
    return files.numbersOf(epoch);
  }

  /**
   * Returns the number of lines read at the start of an epoch: those skipped so far, or the one
   * peeked at.
   */
  private int linesTaken() {
    if (reader instanceof CSVRecordReader) {
      boolean done = Boolean.TRUE.equals(field(CSVRecordReader.class, "skippedLines").get(reader));
      return done ? skipped() : 0;
    } else if (reader instanceof RegexLineRecordReader) {
      return number(field(RegexLineRecordReader.class, "numLinesSkipped"));
    }
    return peeked();
  }

  @Override
  int peeked() {
    return reader instanceof SVMLightRecordReader
            && field(SVMLightRecordReader.class, "recordLookahead").get(reader) != null
        ? 1
        : 0;
  }

  private int linesOf(File file) {
    return known.lines.of(file.toURI(), opener).lines();
  }

  @Override
  boolean begin(int[] order, @Nullable IteratorEpoch shared) {
    List<File> epoch = files == null ? null : files.inOrderOf(order);
    if (epoch == null) {
      return false;
    }
    List<URI> uris = ReaderFiles.uris(epoch);
    List<LineIndex> indices = uris.stream().map(uri -> known.lines.of(uri, opener)).toList();
    Lines now = new Lines(uris, indices, opener, charset(), skipped(), shared);
    if (now.count() != order.length) {
      return false; // A file has changed.
    }
    close();
    lines = now;
    closeOwn();
    if (!Arrays.equals((URI[]) locations.get(reader), uris.toArray(URI[]::new))) {
      locations.set(reader, uris.toArray(URI[]::new));
    }
    iterator.set(reader, now.records);
    seek(0);
    return true;
  }

  @Override
  String firstFile() {
    return locations.get(reader) instanceof URI[] uris && uris.length > 0 ? uris[0] + "" : "";
  }

  @Override
  int records() {
    return Objects.requireNonNull(lines).count();
  }

  @Override
  void seek(int place) {
    Lines now = Objects.requireNonNull(lines);
    if (iterator.get(reader) != now.records) { // The library itself has moved to another file.
      closeOwn();
      iterator.set(reader, now.records);
    }
    now.reach(place);
    splitIndex.set(reader, now.fileOf(place));
    lineIndex.set(reader, now.linesBefore(place));
    if (reader instanceof CSVRecordReader) {
      field(CSVRecordReader.class, "skippedLines").set(reader, true);
    } else if (reader instanceof RegexLineRecordReader) {
      field(RegexLineRecordReader.class, "numLinesSkipped").set(reader, skipped());
    } else if (reader instanceof SVMLightRecordReader) {
      field(SVMLightRecordReader.class, "recordLookahead").set(reader, null);
    }
  }

  @Override
  void opened() throws CannotShareException {
    if (locations.get(reader) instanceof URI[] uris && uris.length > 0) {
      known.opened(ReaderFiles.files(List.of(uris[0])).get(0));
    }
  }

  @Override
  boolean isUnchanged() {
    Lines now = lines;
    return files == null || now == null || now.areOver() || files.isUnchanged(now.file());
  }

  @Override
  void giveBack() {
    Lines now = lines;
    if (now != null && !now.areOver() && iterator.get(reader) == now.records) {
      iterator.set(reader, now.rest().lines().iterator());
    }
  }

  @Override
  void close() {
    Lines now = lines;
    if (now != null) {
      now.close();
    }
  }

  /** Closes the file that the library has open. */
  private void closeOwn() {
    try {
      reader.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  LineReader makeCopy() throws CannotShareException {
    LineRecordReader copy;
    if (reader instanceof CSVRegexRecordReader) {
      copy = new CSVRegexRecordReader(0, "", null, null);
    } else if (reader instanceof CSVLineSequenceRecordReader) {
      copy = new CSVLineSequenceRecordReader();
    } else if (reader instanceof CSVRecordReader) {
      copy = new CSVRecordReader();
    } else if (reader instanceof RegexLineRecordReader) {
      copy = new RegexLineRecordReader("", 0);
    } else if (reader instanceof SVMLightRecordReader) {
      copy = new SVMLightRecordReader();
    } else {
      copy = new LineRecordReader();
    }
    LibraryField.copyAll(reader, copy);
    // Not the program's iterator, which the program closes.
    iterator.set(copy, new EpochRecords<>(place -> "", 0, null, Collections.emptyIterator()));
    if (reader instanceof CSVRecordReader) { // The parser has state within a record.
      LibraryField<Object> parser = field(CSVRecordReader.class, "csvParser");
      SerializableCSVParser own = new SerializableCSVParser();
      LibraryField.copyAll(parser.require(reader), own);
      parser.set(copy, own);
    }
    return new LineReader(copy, known);
  }
}
