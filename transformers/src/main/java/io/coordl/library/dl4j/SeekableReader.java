package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import io.coordl.purity.ClassFiles;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.datavec.api.records.reader.BaseRecordReader;
import org.datavec.api.records.reader.RecordReader;
import org.jspecify.annotations.Nullable;

/**
 * A reader of the library, the program's or our copy of it, that can be set to any record of a
 * epoch: it then goes on from there by its own code. For that {@link EpochRecords} stand in the
 * place of its own iterator over files, lines or records. The library makes that iterator anew with
 * each reset and initialisation: that is how the end of an epoch is known. Used as the reader is,
 * by one thread at a time.
 */
abstract sealed class SeekableReader permits ListedReader, LineReader, TransformedReader {
  /** Fields of the library that are no settings: where a reader is, and what is told elsewhere. */
  private static final Set<String> PLACES =
      Set.of(
          ("iter locations splitIndex lineIndex conf initialized skippedLines numLinesSkipped"
               + " currLine recordLookahead locationsIterator currentUri currentFile records"
               + " original count delimitedData dataIter finishedInputStreamSplit record hitImage"
               + " imageLoader inputSplit currentImage")
              .split(" "));

  /**
   * Of the library, which has this class loaded for itself: readers are looked at at each batch.
   */
  private static final ClassValue<Map<String, LibraryField<Object>>> FIELDS =
      new ClassValue<>() {
        @Override
        protected Map<String, LibraryField<Object>> computeValue(Class<?> owner) {
          return new ConcurrentHashMap<>();
        }
      };

  private final RecordReader reader;

  @Nullable DataFiles files;

  SeekableReader(RecordReader reader) {
    this.reader = reader;
  }

  RecordReader reader() {
    return reader;
  }

  /** The files of the epoch; null before its order is told, or if it reads none. */
  @Nullable DataFiles files() {
    return files;
  }

  /**
   * What stands in the place of the library's iterator once an epoch has been begun here, shared or
   * not; null if it is the library's own.
   */
  abstract @Nullable EpochRecords<?> current();

  /**
   * The numbers of the records of the epoch the reader is at the beginning of, in its order.
   *
   * @param taken how many records a reader above this one has taken already
   * @return null if it is in the midst of an epoch
   * @throws CannotShareException if that cannot be told
   */
  abstract int @Nullable [] order(int taken) throws CannotShareException;

  /**
   * Sets the reader at the beginning of an epoch in that order.
   *
   * @param shared the epoch that other jobs go through too; null if the library does by itself
   * @return false if it is no order of its records; nothing has happened then
   */
  abstract boolean begin(int[] order, @Nullable IteratorEpoch shared);

  /** How many records an epoch has; known once it has begun. */
  abstract int records();

  /** Sets the reader to a record, by its place in the order, or behind the last. */
  abstract void seek(int place);

  /** How many records the library has taken from {@link #current} to know that they are there. */
  int peeked() {
    return 0;
  }

  /** Whether the next record is that one, in the epoch that was begun last. */
  boolean isAt(int place) {
    EpochRecords<?> now = current();
    return now != null && now.place() - peeked() == place;
  }

  /** Whether it does with its records what it did when it was described. */
  boolean isSteady() {
    return true;
  }

  /** The library has opened the first file of an epoch, if it has one open. */
  void opened() throws CannotShareException {}

  /** Whether the file that it is in the midst of is what it was when its records were counted. */
  boolean isUnchanged() {
    return true;
  }

  /** Puts the library's own iterator back, over what is left of the file as it is now. */
  void giveBack() {}

  /** Closes the file that it is in the midst of; it is opened again when it is needed. */
  void close() {}

  /** Whether it makes a record to know that it is there. */
  boolean makesToKnow() {
    return false;
  }

  /** Why equal records of it may make other batches, or need not be kept; null for neither. */
  @Nullable String reasonNotToKeep() {
    return null;
  }

  /** The reader once more, with all that the program gave it; its epoch is yet to begin. */
  SeekableReader copy() {
    try {
      SeekableReader copy = makeCopy();
      copy.files = files;
      return copy;
    } catch (CannotShareException e) {
      throw new IllegalStateException(e);
    }
  }

  /** As above; its files are the caller's affair. */
  abstract SeekableReader makeCopy() throws CannotShareException;

  /** What it reads, once its order has been told. */
  String content() {
    return Objects.requireNonNull(files).toString();
  }

  void describe(Map<String, String> parts, String prefix) throws CannotShareException, IOException {
    parts.put(prefix + "reader", reader.getClass().getSimpleName());
    StringBuilder code = new StringBuilder();
    for (Class<?> c = reader.getClass();
        c != BaseRecordReader.class && c != Object.class;
        c = Objects.requireNonNull(c.getSuperclass())) {
      code.append(code.isEmpty() ? "" : " ").append(ClassFiles.checksum(c));
      for (Field field : c.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && !PLACES.contains(field.getName())) {
          String name = spaced(field.getName());
          parts.put(prefix + name, Description.of(name, field(c, field.getName()).get(reader)));
        }
      }
    }
    parts.put(prefix + "reader's code", code.toString());
  }

  /** "skip num lines" for {@code skipNumLines}. */
  static String spaced(String name) {
    return name.replaceAll("([a-z])([A-Z])", "$1 $2").toLowerCase(Locale.ROOT);
  }

  /** A field that the library is known to have. */
  static LibraryField<Object> field(Class<?> owner, String name) {
    Map<String, LibraryField<Object>> known = FIELDS.get(owner);
    LibraryField<Object> field = known.get(name);
    if (field == null) {
      try {
        field = LibraryField.of(owner, name);
      } catch (NoSuchFieldException e) {
        throw new IllegalStateException(e);
      }
      known.put(name, field);
    }
    return field;
  }
}
