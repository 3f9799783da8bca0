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

/** Information about a reader and its files, across epochs. Thread-safe. */
final class ReaderFiles {
  /** Packages of large objects that never change once created. */
  private static final String SCHEMAS = "org.datavec.api.transform.schema.";

  private static final String CATEGORIES = "org.datavec.api.transform.transform.categorical.";

  /** Line indices of the files of all readers. */
  final LineIndices lines;

  /** The split of the reader's last epoch; the reader lists its files again in each epoch. */
  private @Nullable WeakReference<InputSplit> split;

  /** Files, or their URIs, in the split's order. */
  private List<?> elements = List.of();

  private @Nullable DataFiles files;
  private int[] numbers = {};

  /** The state of its first file when the library opened it. */
  private @Nullable Long opened;

  /** The description of its transform process, which may be slow to create. */
  private @Nullable Described described;

  ReaderFiles(LineIndices lines) {
    this.lines = lines;
  }

  /** A process and its description; {@code text} is null if {@code reason} prevents one. */
  private record Described(ObjectSnapshot as, @Nullable String text, String reason) {}

  /**
   * Returns the record numbers of an epoch of files with one record each; their states are read
   * once. The caller must not change the array.
   */
  synchronized int[] recordNumbers(InputSplit from, List<?> listing) throws CannotShareException {
    if (split == null || !split.refersTo(from) || !elements.equals(listing)) {
      List<File> epoch = files(listing);
      int[] now = files == null ? null : files.numbersOf(epoch);
      if (now == null) {
        requireFiles(epoch);
        files = new DataFiles(epoch);
        now = Objects.requireNonNull(files.numbersOf(epoch));
      }
      split = new WeakReference<>(from);
      elements = listing;
      numbers = now;
    }
    return numbers;
  }

  /** Returns the last listing if it was of this split. */
  synchronized @Nullable List<?> lastListing(InputSplit from) {
    return split != null && split.refersTo(from) ? elements : null;
  }

  /** Returns the files of the last listing. */
  synchronized @Nullable DataFiles files() {
    return files;
  }

  /** Called when the library has opened the reader's first file. */
  synchronized void opened(File file) {
    opened = DataFiles.stateOf(file);
  }

  /**
   * Whether this file is unchanged since it was opened.
   *
   * @param isRead whether the library has read from it; if not, a file whose opening was not
   *     recorded counts as unchanged
   */
  synchronized boolean isAsOpened(File file, boolean isRead) {
    return opened == null ? !isRead : opened == DataFiles.stateOf(file);
  }

  /** Rejects a process with parts of the program, such as a condition, which may do anything. */
  private static void requireLibrary(Object process) throws CannotShareException {
    Set<Class<?>> classes = ObjectSnapshot.classes(process, type -> true);
    for (Class<?> type : classes == null ? Set.of(Object.class) : classes) {
      if (!Description.isOfLibrary(type.getName()) && !type.getName().startsWith("org.joda.")) {
        throw new CannotShareException(
            "a TransformProcess with parts of the program (such as " + type.getName() + ")");
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

  /** Whether the reader's transform process is unchanged since it was last described. */
  synchronized boolean isDescribed(Object process) {
    return described != null && described.as.isOf(process);
  }

  /** Returns the description of the reader's transform process. */
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

  /** Returns how a reader opens its files; throws if it may read other streams. */
  @SuppressWarnings("unchecked") // The type that the library declares.
  static Function<URI, InputStream> requireFiles(BaseRecordReader reader)
      throws CannotShareException {
    Object opener = SeekableReader.field(BaseRecordReader.class, "streamCreatorFn").get(reader);
    if (opener == null || opener.getClass() != FileStreamCreatorFunction.class) {
      throw new CannotShareException("readers of streams");
    }
    return (Function<URI, InputStream>) opener;
  }

  /** Returns the elements as files; throws if one is not a file. */
  static List<File> files(List<?> elements) throws CannotShareException {
    List<File> files = new ArrayList<>(elements.size());
    try {
      for (Object element : elements) {
        files.add(element instanceof File file ? file : new File((URI) element));
      }
      return files;
    } catch (IllegalArgumentException e) {
      throw new CannotShareException("readers of locations that are not files");
    }
  }

  /** Throws if a file exists but is not a regular one: a pipe can be read only once. */
  static void requireFiles(List<File> files) throws CannotShareException {
    for (File file : files) {
      if (file.exists() && !file.isFile()) {
        throw new CannotShareException("readers of " + file + " (which is not a regular file)");
      }
    }
  }

  static List<URI> uris(List<File> files) {
    return files.stream().map(File::toURI).toList();
  }
}
