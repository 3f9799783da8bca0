package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.datavec.api.records.reader.RecordReader;
import org.jspecify.annotations.Nullable;

/** A reader with a field that holds an iterator over elements, each of which makes one record. */
abstract sealed class ListedReader extends SeekableReader
    permits FileReader, ImageReader, MemoryReader {
  private final LibraryField<Object> iterator;
  private List<?> epoch = List.of();

  /** The library's own exhausted iterator, or an empty one. */
  private Iterator<?> exhausted = Collections.emptyIterator();

  /** The elements of the epoch in the library's order. */
  private List<?> listed = List.of();

  /** The record number of each element in {@link #listed}; null if unknown. */
  private int @Nullable [] numbers;

  ListedReader(RecordReader reader, LibraryField<Object> iterator) {
    super(reader);
    this.iterator = iterator;
  }

  /** Whether {@link #all} is supported, and calls no code of the program. */
  abstract boolean listsAll();

  /** Returns, in order, the elements of an epoch that would begin now. */
  abstract List<?> all() throws CannotShareException;

  /** Whether these elements make up a whole epoch. */
  abstract boolean isWhole(List<?> elements);

  /** Returns the numbers of these elements, which make up a whole epoch. */
  abstract int @Nullable [] numbersOf(List<?> elements) throws CannotShareException;

  /**
   * Returns the elements, ordered by these numbers; null if that is not a valid order of an epoch.
   */
  abstract @Nullable List<?> inOrderOf(int[] order);

  @Override
  @Nullable EpochRecords<?> current() {
    return iterator.get(reader()) instanceof EpochRecords<?> now ? now : null;
  }

  @Override
  @Nullable Object iterator() {
    return iterator.get(reader());
  }

  @Override
  int @Nullable [] order(int taken) throws CannotShareException {
    if (taken > 0 && !listsAll()) {
      return null;
    }
    List<?> remaining = List.of();
    if (iterator.get(reader()) instanceof Iterator<?> own) {
      remaining = drain(own);
      if (!(own instanceof EpochRecords)) {
        exhausted = own.hasNext() ? Collections.emptyIterator() : own;
      }
    }
    put(remaining, null); // drain() emptied the iterator: put the rest back.
    if (taken > 0) {
      List<?> all = all();
      remaining =
          all.size() >= taken && all.subList(taken, all.size()).equals(remaining) ? all : List.of();
    }
    listed = remaining;
    numbers = isWhole(remaining) ? numbersOf(remaining) : null;
    return numbers == null ? null : numbers.clone();
  }

  /** Drains an iterator of the library, and returns its remaining elements. */
  List<?> drain(Iterator<?> own) {
    List<Object> remaining = new ArrayList<>();
    own.forEachRemaining(remaining::add);
    return remaining;
  }

  private void put(List<?> elements, @Nullable IteratorEpoch shared) {
    iterator.set(
        reader(), new EpochRecords<Object>(elements::get, elements.size(), shared, exhausted));
  }

  @Override
  boolean begin(int[] order, @Nullable IteratorEpoch shared) {
    List<?> ordered = Arrays.equals(order, numbers) ? listed : inOrderOf(order);
    if (ordered == null) {
      return false;
    }
    epoch = ordered;
    put(epoch, shared);
    return true;
  }

  @Override
  ListedReader copy() {
    ListedReader copy = (ListedReader) super.copy();
    copy.listed = listed;
    copy.numbers = numbers;
    return copy;
  }

  @Override
  int records() {
    return epoch.size();
  }

  @Override
  void seek(int place) {
    EpochRecords<?> now = current();
    if (now != null) {
      now.moveTo(place, epoch.size());
      moved(place, epoch);
    }
  }

  /** Updates other fields that hold the reader's position. */
  void moved(int place, List<?> elements) {}
}
