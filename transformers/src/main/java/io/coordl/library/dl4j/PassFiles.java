package io.coordl.library.dl4j;

import java.io.File;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The files of one pass in the order it goes through them; stands in the reader of the program, or
 * of a {@link Pipeline}, in the place of the library's own iterator. Whoever reads on from it gets
 * what has not been taken yet: so the library's own code can go on at any time. Used by one thread
 * at a time, as what it stands for.
 */
final class PassFiles implements Iterator<File> {
  private final List<File> files;
  private final @Nullable IteratorPass shared;
  private int next;

  /** A pass that the library goes through by itself. */
  PassFiles(List<File> files) {
    this(files, null);
  }

  /** A pass that is shared with other jobs. */
  PassFiles(List<File> files, @Nullable IteratorPass shared) {
    this.files = files;
    this.shared = shared;
  }

  /** The pass, if it is shared and of that iterator. */
  @Nullable IteratorPass sharedOf(Object iterator) {
    return shared != null && shared.isOf(iterator) ? shared : null;
  }

  @Override
  public boolean hasNext() {
    return next < files.size();
  }

  @Override
  public File next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return files.get(next++);
  }

  /** How many have been taken. */
  int taken() {
    return next;
  }

  /** The next files, at most so many, are taken. */
  void take(int count) {
    next = Math.min(next + count, files.size());
  }

  /** The one taken last, if any has been. */
  @Nullable File last() {
    return next == 0 ? null : files.get(next - 1);
  }

  /** The next files, at most so many, which stay where they are. */
  List<File> peek(int count) {
    return files.subList(next, Math.min(next + count, files.size()));
  }
}
