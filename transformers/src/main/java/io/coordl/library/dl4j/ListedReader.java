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

/** A reader with an iterator in a field, over elements that make one record each. */
abstract sealed class ListedReader extends SeekableReader
    permits FileReader, ImageReader, MemoryReader {
  private final LibraryField<Object> iterator;
  private List<?> epoch = List.of();

  /** The library's own exhausted iterator, or an empty one. */
  private Iterator<?> ended = Collections.emptyIterator();

  /** The elements of the epoch in the library's order, and their numbers. */
  private List<?> listed = List.of();

  private int @Nullable [] numbers;

  ListedReader(RecordReader reader, LibraryField<Object> iterator) {
    super(reader);
    this.iterator = iterator;
  }

  /** The elements of an epoch that would begin now, in its order. */
  abstract List<?> all() throws CannotShareException;

  /** Whether there are as many elements as in an epoch. */
  abstract boolean isWhole(List<?> elements);

  /** The numbers of these elements, which make up a whole epoch. */
  abstract int @Nullable [] numbersOf(List<?> elements) throws CannotShareException;

  /** The elements in the order of these numbers; null if it is not a valid order of an epoch. */
  abstract @Nullable List<?> inOrderOf(int[] order);

  @Override
  @Nullable EpochRecords<?> current() {
    return iterator.get(reader()) instanceof EpochRecords<?> now ? now : null;
  }

  @Override
  int @Nullable [] order(int taken) throws CannotShareException {
    List<?> left = List.of();
    if (iterator.get(reader()) instanceof Iterator<?> own) {
      left = left(own);
      if (!(own instanceof EpochRecords)) {
        ended = own.hasNext() ? Collections.emptyIterator() : own;
      }
    }
    put(left, null); // Restores the elements that were still to come.
    if (taken > 0) {
      List<?> all = all();
      left = all.size() >= taken && all.subList(taken, all.size()).equals(left) ? all : List.of();
    }
    listed = left;
    numbers = isWhole(left) ? numbersOf(left) : null;
    return numbers == null ? null : numbers.clone();
  }

  /** The remaining elements of an iterator of the library. */
  List<?> left(Iterator<?> own) {
    List<Object> left = new ArrayList<>();
    own.forEachRemaining(left::add);
    return left;
  }

  private void put(List<?> elements, @Nullable IteratorEpoch shared) {
    iterator.set(reader(), new EpochRecords<Object>(elements::get, elements.size(), shared, ended));
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
