package io.coordl.library.dl4j;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.nd4j.common.function.Function;

/**
 * The records of several files, one per line, numbered consecutively across the files. The initial
 * lines that each file's reader skips are not counted. Consecutive lines are read without seeking.
 * The current file stays open until lines of another file are requested, so it can be read even if
 * it is deleted or replaced. Used by one thread at a time.
 */
final class Lines {
  /** Replaces the reader's own iterator. */
  final EpochRecords<String> records;

  private final List<URI> files;
  private final List<LineIndex> indices;
  private final Function<URI, InputStream> opener;
  private final Charset charset;
  private final int skipped;

  /** The place of the first record of each file, then the total number of records. */
  private final int[] first;

  private @Nullable BufferedReader open;
  private int openAt;
  private @Nullable OpenFile held;
  private int heldFile;

  Lines(
      List<URI> files,
      List<LineIndex> indices,
      Function<URI, InputStream> opener,
      Charset charset,
      int skipped,
      @Nullable IteratorEpoch shared) {
    this.files = files;
    this.indices = indices;
    this.opener = opener;
    this.charset = charset;
    this.skipped = skipped;
    this.first = new int[files.size() + 1];
    for (int i = 0; i < files.size(); i++) {
      first[i + 1] = first[i] + indices.get(i).lines() - skipped;
    }
    this.records = new EpochRecords<>(this::line, count(), shared, Collections.emptyIterator());
  }

  int count() {
    return first[files.size()];
  }

  /**
   * Returns the index of the file with the record at this place in the epoch's order; past the end,
   * the index of the last file.
   */
  int fileOf(int place) {
    int found = Arrays.binarySearch(first, 0, files.size(), place);
    return Math.min(found >= 0 ? found : -found - 2, files.size() - 1);
  }

  boolean areOver() {
    return records.place() == count();
  }

  File file() {
    return new File(files.get(fileOf(records.place())));
  }

  /** Returns the number of lines in the file before the record at this place. */
  int linesBefore(int place) {
    return skipped + place - first[fileOf(place)];
  }

  private String line(int place) {
    try {
      BufferedReader reader = open;
      if (reader == null || place != openAt) {
        reader = open(place);
      }
      String line = reader.readLine();
      if (line == null) {
        throw new IOException(files.get(fileOf(place)) + " has become shorter");
      }
      openAt = place + 1;
      open = reader;
      if (openAt == first[fileOf(place) + 1]) {
        close();
      }
      return line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private BufferedReader open(int place) throws IOException {
    int file = fileOf(place);
    OpenFile opened = hold(file);
    opened.rewind();
    return indices.get(file).from(opened, charset, linesBefore(place));
  }

  /** Opens a file, if it is not open. */
  private OpenFile hold(int file) {
    OpenFile now = held;
    if (now == null || heldFile != file) {
      close();
      now = new OpenFile(opener.apply(files.get(file)));
      held = now;
      heldFile = file;
    }
    return now;
  }

  /**
   * Called when the epoch has reached this place: opens the file of its next record, where the
   * reader continues.
   */
  void reach(int place) {
    if (place < count()) {
      hold(fileOf(place));
    } else {
      close();
    }
    records.moveTo(place, first[fileOf(place) + 1]);
  }

  /** Returns the rest of the file, including data appended since it was read. */
  BufferedReader rest() {
    try {
      BufferedReader reader = open(records.place());
      held = null; // The caller closes it.
      open = null;
      return reader;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Closes the open file; it is opened again when needed. */
  void close() {
    OpenFile now = held;
    held = null;
    open = null;
    if (now != null) {
      now.release();
    }
  }

  /** A file from which lines are read; its readers do not close it while it is in use. */
  private final class OpenFile extends InputStream {
    private final InputStream in;
    private long at;

    OpenFile(InputStream in) {
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      int read = in.read();
      at += read < 0 ? 0 : 1;
      return read;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int read = in.read(target, offset, length);
      at += Math.max(0, read);
      return read;
    }

    @Override
    public long skip(long bytes) throws IOException {
      long skipped = in.skip(bytes);
      at += skipped;
      return skipped;
    }

    /** Skips back to the start of the file, which file streams support. */
    void rewind() throws IOException {
      if (at != 0 && skip(-at) == 0) {
        throw new IOException("the file cannot be read again from its beginning");
      }
    }

    @Override
    public void close() throws IOException {
      if (held != this) {
        in.close();
      }
    }

    void release() {
      try {
        close();
      } catch (IOException e) {
        return; // Nothing has been written to it.
      }
    }
  }
}
