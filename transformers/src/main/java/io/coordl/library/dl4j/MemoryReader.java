package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.CheckedOutputStream;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.impl.collection.CollectionRecordReader;
import org.datavec.api.records.reader.impl.collection.CollectionSequenceRecordReader;
import org.datavec.api.records.reader.impl.collection.ListStringRecordReader;
import org.datavec.api.writable.Writable;
import org.jspecify.annotations.Nullable;

/**
 * A reader of records that the program holds in memory. They are identified by a checksum of all
 * records, in order, computed at the start of each epoch.
 */
final class MemoryReader extends ListedReader {
  private final RecordReader reader;
  private List<?> kept = List.of();
  private String content = "";

  MemoryReader(RecordReader reader) {
    super(
        reader,
        field(
            reader.getClass(), reader instanceof ListStringRecordReader ? "dataIter" : "records"));
    this.reader = reader;
  }

  private @Nullable Collection<?> original() {
    String name = reader instanceof ListStringRecordReader ? "delimitedData" : "original";
    return (Collection<?>) field(reader.getClass(), name).get(reader);
  }

  @Override
  boolean listsAll() {
    return true;
  }

  @Override
  List<?> all() throws CannotShareException {
    Collection<?> original = original();
    if (original == null) {
      throw new CannotShareException("readers that are not initialised");
    }
    return new ArrayList<>(original);
  }

  @Override
  boolean isWhole(List<?> elements) {
    Collection<?> original = original();
    return original != null && elements.size() == original.size();
  }

  @Override
  int[] numbersOf(List<?> elements) throws CannotShareException {
    kept = elements;
    CRC32 checksum = new CRC32();
    try (DataOutputStream out =
        new DataOutputStream(new CheckedOutputStream(OutputStream.nullOutputStream(), checksum))) {
      write(elements, out);
    } catch (IOException e) {
      throw new CannotShareException("records that cannot be compared (" + e.getMessage() + ")");
    }
    content = elements.size() + " with checksum " + Long.toHexString(checksum.getValue());
    return IntStream.range(0, elements.size()).toArray();
  }

  private static void write(@Nullable Object object, DataOutput out) throws IOException {
    if (object instanceof Collection<?> several) {
      out.writeInt(several.size());
      for (Object one : several) {
        write(one, out);
      }
    } else if (object instanceof String text) {
      out.writeInt(text.length());
      out.writeChars(text);
    } else if (object instanceof Writable writable
        && writable.getClass().getName().startsWith("org.datavec.")) {
      out.writeUTF(writable.getClass().getName());
      writable.write(out);
    } else {
      throw new IOException("a " + (object == null ? "null" : object.getClass().getName()));
    }
  }

  @Override
  @Nullable List<?> inOrderOf(int[] order) {
    boolean same = Arrays.equals(order, IntStream.range(0, kept.size()).toArray());
    return same ? kept : null;
  }

  @Override
  void moved(int place, List<?> elements) {
    if (!(reader instanceof ListStringRecordReader)) {
      field(reader.getClass(), "count").set(reader, place);
    }
  }

  @Override
  MemoryReader makeCopy() {
    RecordReader copy;
    if (reader instanceof CollectionRecordReader) {
      copy = new CollectionRecordReader(List.of());
    } else if (reader instanceof CollectionSequenceRecordReader) {
      copy = new CollectionSequenceRecordReader(List.of());
    } else {
      copy = new ListStringRecordReader();
    }
    LibraryField.copyAll(reader, copy);
    MemoryReader seekable = new MemoryReader(copy);
    seekable.kept = kept;
    seekable.content = content;
    return seekable;
  }

  @Override
  String reasonNotToKeep() {
    return "its records are in memory already";
  }

  @Override
  String content() {
    return content;
  }
}
