package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.ObjectDescription;
import io.coordl.pipeline.ObjectSnapshot;
import java.io.File;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.datavec.api.records.reader.BaseRecordReader;
import org.datavec.api.split.InputSplit;
import org.datavec.api.split.streams.FileStreamCreatorFunction;
import org.jspecify.annotations.Nullable;
import org.nd4j.common.function.Function;

/** What is known of a reader and of its files, from epoch to epoch. Thread-safe. */
final class ReaderFiles {
  /** Never changed once they are made, and large. */
  private static final String SCHEMAS = "org.datavec.api.transform.schema.";

  private static final String CATEGORIES = "org.datavec.api.transform.transform.categorical.";

  /** Of the files of all readers. */
  final LineIndices lines;

  /** From where the reader had its last epoch; it tells its files anew in each. */
  private @Nullable WeakReference<InputSplit> split;

  /** Files, or their URIs, in its order. */
  private List<?> elements = List.of();

  private @Nullable DataFiles files;
  private int[] numbers = {};

  /** What its first file was like when the library opened it. */
  private @Nullable Long opened;

  /** What its transform process is, which may be long to tell. */
  private @Nullable Described described;

  ReaderFiles(LineIndices lines) {
    this.lines = lines;
  }

  /** A process as it was described; without text if it cannot be, for that reason. */
  private record Described(ObjectSnapshot as, @Nullable String text, String reason) {}

  /** The numbers of an epoch of files with a record each, looked at once; not to be changed. */
  synchronized int[] tell(InputSplit from, List<?> told) throws CannotShareException {
    if (split == null || !split.refersTo(from) || !elements.equals(told)) {
      List<File> epoch = files(told);
      int[] now = files == null ? null : files.numbersOf(epoch);
      if (now == null) {
        requireFiles(epoch);
        files = new DataFiles(epoch);
        now = Objects.requireNonNull(files.numbersOf(epoch));
      }
      split = new WeakReference<>(from);
      elements = told;
      numbers = now;
    }
    return numbers;
  }

  /** What was told last, if it was from that split. */
  synchronized @Nullable List<?> toldOf(InputSplit from) {
    return split != null && split.refersTo(from) ? elements : null;
  }

  /** The files of what was told last. */
  synchronized @Nullable DataFiles files() {
    return files;
  }

  /** The library has opened the reader's first file. */
  synchronized void opened(File file) {
    opened = DataFiles.stateOf(file);
  }

  /** Whether that file is what it was when it was opened, as far as is known. */
  synchronized boolean isAsOpened(File file) {
    return opened == null || opened == DataFiles.stateOf(file);
  }

  /** A condition, say, may be the program's, and do anything. */
  private static void requireLibrary(Object process) throws CannotShareException {
    Set<Class<?>> classes = ObjectSnapshot.classes(process, type -> true);
    for (Class<?> type : classes == null ? Set.of(Object.class) : classes) {
      if (!Description.isOfLibrary(type.getName()) && !type.getName().startsWith("org.joda.")) {
        throw new CannotShareException(
            "a TransformProcess with parts of the program's own, as " + type.getName() + ",");
      }
    }
  }

  private static Described described(Object process) {
    ObjectSnapshot now =
        new ObjectSnapshot(
            process, type -> !ObjectDescription.startsWith(type.getName(), SCHEMAS, CATEGORIES));
    try {
      requireLibrary(process);
      return new Described(now, Description.ofLarge("transform process", process), "");
    } catch (CannotShareException e) {
      return new Described(now, null, String.valueOf(e.getMessage()));
    }
  }

  /** Whether the reader's transform process is as it was described last. */
  synchronized boolean isDescribed(Object process) {
    return described != null && described.as.isOf(process);
  }

  /** The text of the reader's transform process. */
  synchronized String describe(Object process) throws CannotShareException {
    Described known = described;
    if (known == null || !known.as.isOf(process)) {
      known = described(process);
      described = known;
    }
    if (known.text == null) {
      throw new CannotShareException(known.reason);
    }
    return known.text;
  }

  /** How a reader opens its files; throws if they may be something else. */
  @SuppressWarnings("unchecked") // As the library declares it.
  static Function<URI, InputStream> requireFiles(BaseRecordReader reader)
      throws CannotShareException {
    Object opener = SeekableReader.field(BaseRecordReader.class, "streamCreatorFn").get(reader);
    if (opener == null || opener.getClass() != FileStreamCreatorFunction.class) {
      throw new CannotShareException("readers of streams");
    }
    return (Function<URI, InputStream>) opener;
  }

  /** As files; throws if they may be something else. */
  static List<File> files(List<?> elements) throws CannotShareException {
    List<File> files = new ArrayList<>(elements.size());
    try {
      for (Object element : elements) {
        files.add(element instanceof File file ? file : new File((URI) element));
      }
      return files;
    } catch (IllegalArgumentException e) {
      throw new CannotShareException("readers of locations that are no files");
    }
  }

  /** What can be read but once, as a pipe, is the program's alone: throws if one is no file. */
  static void requireFiles(List<File> files) throws CannotShareException {
    for (File file : files) {
      if (file.exists() && !file.isFile()) {
        throw new CannotShareException("readers of " + file + ", which is no regular file,");
      }
    }
  }

  static List<URI> uris(List<File> files) {
    return files.stream().map(File::toURI).toList();
  }
}
