package io.coordl.library.dl4j;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.nd4j.common.function.Function;

/**
 * The start positions of lines, for the files of all readers. An index that has not been used
 * recently may be discarded when the heap runs low, because a program may write a new file for each
 * epoch. Thread-safe.
 */
final class LineIndices {
  private final Map<File, Indexed> indices = new ConcurrentHashMap<>();
  private final ReferenceQueue<LineIndex> forgotten = new ReferenceQueue<>();

  private static final class Indexed extends SoftReference<LineIndex> {
    final File file;
    final long state;

    Indexed(File file, long state, LineIndex index, ReferenceQueue<LineIndex> forgotten) {
      super(index, forgotten);
      this.file = file;
      this.state = state;
    }
  }

  /**
   * Returns the start positions of a file's lines: read once, and again if the file has changed or
   * its index was discarded.
   *
   * @param opener opens a file as the library does
   * @throws UncheckedIOException if it cannot be read
   */
  LineIndex of(URI uri, Function<URI, InputStream> opener) {
    File file = new File(uri);
    long state = DataFiles.stateOf(file);
    Indexed known = indices.get(file);
    LineIndex index = known == null || known.state != state ? null : known.get();
    if (index == null) {
      try (InputStream in = opener.apply(uri)) {
        index = LineIndex.of(in);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      indices.put(file, new Indexed(file, state, index, forgotten));
      for (Reference<?> gone = forgotten.poll(); gone != null; gone = forgotten.poll()) {
        indices.remove(((Indexed) gone).file, gone);
      }
    }
    return index;
  }
}
