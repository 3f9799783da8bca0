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
import java.util.stream.Stream;
import org.datavec.api.records.reader.BaseRecordReader;
import org.datavec.api.records.reader.RecordReader;
import org.jspecify.annotations.Nullable;

/**
 * A library reader, the program's or the agent's copy, that can be set to any record of an epoch
 * and then continues with its own code. For this, {@link EpochRecords} replaces the library's
 * iterator over files, lines or records. The library creates its iterator again at each reset and
 * initialisation, which indicates the end of the epoch. Like the reader, used by one thread at a
 * time.
 */
abstract sealed class SeekableReader permits ListedReader, LineReader, TransformedReader {
  /**
   * Fields of the library that are not settings: the reader's position, and state described
   * elsewhere.
   */
  private static final Set<String> PLACES =
      Set.of(
          ("iter locations splitIndex lineIndex conf initialized skippedLines numLinesSkipped"
               + " currLine recordLookahead locationsIterator currentUri currentFile records"
               + " original count delimitedData dataIter finishedInputStreamSplit record hitImage"
               + " imageLoader inputSplit currentImage")
              .split(" "));

  /** Cached with each class, because readers are examined at each batch. */
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

  /** Returns the reader, and the reader that it wraps if there is one. */
  Stream<RecordReader> readers() {
    return Stream.of(reader);
  }

  /**
   * Returns the files of the epoch; null before its order is known, or if the reader reads none.
   */
  @Nullable DataFiles files() {
    return files;
  }

  /**
   * Returns the agent's replacement of the library's iterator; null if the reader has the library's
   * own.
   */
  abstract @Nullable EpochRecords<?> current();

  /** Returns the iterator that the library, or the agent in its place, has created for an epoch. */
  abstract @Nullable Object iterator();

  /**
   * Returns the record numbers of the reader's epoch, in order.
   *
   * @param taken number of records of the epoch that the library has already taken
   * @return null if the reader is not known to be at that place of an epoch
   * @throws CannotShareException if the order cannot be determined
   */
  abstract int @Nullable [] order(int taken) throws CannotShareException;

  /**
   * Sets the reader to the start of an epoch in this order.
   *
   * @param shared the epoch, if the agent supplies its batches; null if the library supplies them
   * @return false if the order is not valid for the reader's records; then nothing has changed
   */
  abstract boolean begin(int[] order, @Nullable IteratorEpoch shared);

  /** Returns the number of records in an epoch; known once one has begun. */
  abstract int records();

  /** Sets the reader to a record, by its place in the order, or past the end. */
  abstract void seek(int place);

  /**
   * Returns how many records the library has taken from {@link #current} to check that they exist.
   */
  int peeked() {
    return 0;
  }

  /** Whether the record at this place of the current epoch is next. */
  boolean isAt(int place) {
    EpochRecords<?> now = current();
    return now != null && now.place() - peeked() == place;
  }

  /** Whether it processes records in the same way as when it was described. */
  boolean isSteady() {
    return true;
  }

  /** Called after the library has initialised or reset the reader, and opened its first file. */
  void opened() throws CannotShareException {}

  /** Whether its current file is unchanged since its records were counted. */
  boolean isUnchanged() {
    return true;
  }

  /** Gives the library an ordinary iterator over the rest of the file as it is now. */
  void giveBack() {}

  /** Closes its current file; it is opened again when needed. */
  void close() {}

  /** Whether it creates a record to check that one exists. */
  boolean createsRecordToCheck() {
    return false;
  }

  /** Returns its first file, if that is known without reading anything; else an empty string. */
  String firstFile() {
    return "";
  }

  /** Whether its records are shuffled at the start of each epoch. */
  boolean isShuffled() {
    return false;
  }

  /**
   * Returns why equal records may give different batches, or why caching them is pointless; null if
   * neither is known.
   */
  @Nullable String reasonNotToKeep() {
    return null;
  }

  /** Returns a copy of the reader with all of the program's settings; its epoch has not begun. */
  SeekableReader copy() {
    try {
      SeekableReader copy = makeCopy();
      copy.files = files;
      return copy;
    } catch (CannotShareException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Copies the reader without {@link #files}, which the caller sets. */
  abstract SeekableReader makeCopy() throws CannotShareException;

  /** Describes its input, once its order is known. */
  String content() {
    return Objects.requireNonNull(files).toString();
  }

  void describe(Map<String, String> parts, String prefix) throws CannotShareException, IOException {
    parts.put(prefix + "reader", reader.getClass().getSimpleName());
    StringBuilder code = new StringBuilder();
    for (Class<?> type = reader.getClass();
        type != BaseRecordReader.class && type != Object.class;
        type = Objects.requireNonNull(type.getSuperclass())) {
      code.append(code.isEmpty() ? "" : " ").append(ClassFiles.checksum(type));
      for (Field field : type.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && !PLACES.contains(field.getName())) {
          String name = spaced(field.getName());
          String text = Description.of(name, field(type, field.getName()).get(reader));
          parts.merge(prefix + name, text, (own, above) -> own + " and " + above);
        }
      }
    }
    parts.put(prefix + "reader's code", code.toString());
  }

  /** Returns "skip num lines" for {@code skipNumLines}. */
  static String spaced(String name) {
    return name.replaceAll("([a-z])([A-Z])", "$1 $2").toLowerCase(Locale.ROOT);
  }

  /** Returns a field that the library is known to declare. */
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
