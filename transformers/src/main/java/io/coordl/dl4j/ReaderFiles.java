package io.coordl.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.ObjectSnapshot;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.datavec.api.records.reader.BaseRecordReader;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.split.streams.FileStreamCreatorFunction;
import org.nd4j.common.function.Function;

/** What is known of the files that readers go through, from epoch to epoch. Thread-safe. */
final class ReaderFiles {
  private static final String SCHEMAS = "org.datavec.api.transform.schema.";

  /** What each reader went through last; a reader tells its files anew in each epoch. */
  private final Map<RecordReader, DataFiles> ofReaders = new WeakHashMap<>();

  private final Map<File, Indexed> indices = new ConcurrentHashMap<>();

  /** What the transform processes of readers are, which may be long to tell. */
  private final Map<RecordReader, Described> processes = new WeakHashMap<>();

  /** An object as it was described. */
  private record Described(ObjectSnapshot as, String text) {}

  /** The lines of a file as it was. */
  private record Indexed(long state, LineIndex index) {}

  /** The files of an epoch of that reader, with a record each; looked at once. */
  DataFiles filesOf(RecordReader reader, List<File> epoch) {
    synchronized (ofReaders) {
      DataFiles before = ofReaders.get(reader);
      if (before != null && before.numbersOf(epoch) != null) {
        return before;
      }
      DataFiles all = new DataFiles(epoch);
      ofReaders.put(reader, all);
      return all;
    }
  }

  /** The text of a reader's transform process. */
  String describe(RecordReader reader, Object process) throws CannotShareException {
    synchronized (processes) {
      Described known = processes.get(reader);
      if (known == null || !known.as.isOf(process)) {
        // Schemas are never changed once they are made, and large.
        ObjectSnapshot now =
            new ObjectSnapshot(process, type -> !type.getName().startsWith(SCHEMAS));
        known = new Described(now, Description.of("transform process", process));
        processes.put(reader, known);
      }
      return known.text;
    }
  }

  /**
   * Where the lines of a file begin: read once, and again if the file has changed.
   *
   * @param opener how the library opens it
   * @throws UncheckedIOException if it cannot be read
   */
  LineIndex linesOf(URI uri, Function<URI, InputStream> opener) {
    File file = new File(uri);
    long state = DataFiles.stateOf(file);
    Indexed known = indices.get(file);
    if (known == null || known.state() != state) {
      try (InputStream in = opener.apply(uri)) {
        known = new Indexed(state, LineIndex.of(in));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      indices.put(file, known);
    }
    return known.index();
  }

  /**
   * How a reader opens its files.
   *
   * @throws CannotShareException if they may be something else
   */
  @SuppressWarnings("unchecked") // As the library declares it.
  static Function<URI, InputStream> requireFiles(BaseRecordReader reader)
      throws CannotShareException {
    Object opener = SeekableReader.field(BaseRecordReader.class, "streamCreatorFn").get(reader);
    if (opener == null || opener.getClass() != FileStreamCreatorFunction.class) {
      throw new CannotShareException("readers of streams");
    }
    return (Function<URI, InputStream>) opener;
  }

  /**
   * As files.
   *
   * @throws CannotShareException if they may be something else
   */
  static List<File> files(List<?> uris) throws CannotShareException {
    try {
      return uris.stream().map(uri -> new File((URI) uri)).toList();
    } catch (IllegalArgumentException e) {
      throw new CannotShareException("readers of locations that are no files");
    }
  }

  /** As the library has them. */
  static List<URI> uris(List<File> files) {
    return files.stream().map(File::toURI).toList();
  }
}
