package io.coordl.dl4j;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.nd4j.common.function.Function;

/**
 * The lines of several files by their places in one order, without those each file begins with that
 * are no records. Lines asked for one after the other are read on. Used by one thread at a time.
 */
final class Lines implements IntFunction<String> {
  private final List<URI> files;
  private final List<LineIndex> indices;
  private final Function<URI, InputStream> opener;
  private final Charset charset;
  private final int skipped;

  /** The place of the first record of each file, and behind the last. */
  private final int[] first;

  private @Nullable BufferedReader open;
  private int openAt;

  /**
   * Lines.
   *
   * @param files in the order of the epoch
   * @param indices of each
   * @param opener how the library opens them
   * @param skipped lines at the beginning of each file
   */
  Lines(
      List<URI> files,
      List<LineIndex> indices,
      Function<URI, InputStream> opener,
      Charset charset,
      int skipped) {
    this.files = files;
    this.indices = indices;
    this.opener = opener;
    this.charset = charset;
    this.skipped = skipped;
    this.first = new int[files.size() + 1];
    for (int i = 0; i < files.size(); i++) {
      first[i + 1] = first[i] + indices.get(i).lines() - skipped;
    }
  }

  int count() {
    return first[files.size()];
  }

  /** Which file has the record of that place, in the epoch's order; behind the last, the last. */
  int fileOf(int place) {
    int found = Arrays.binarySearch(first, 0, files.size(), place);
    return Math.min(found >= 0 ? found : -found - 2, files.size() - 1);
  }

  /** How many lines of its file come before the record of that place. */
  int linesBefore(int place) {
    return skipped + place - first[fileOf(place)];
  }

  /** The place behind the last record of a file. */
  int endOf(int file) {
    return first[file + 1];
  }

  @Override
  public String apply(int place) {
    try {
      BufferedReader reader = open;
      if (reader == null || place != openAt) {
        close();
        reader = open(place);
      }
      String line = reader.readLine();
      if (line == null) {
        throw new IOException(files.get(fileOf(place)) + " has become shorter");
      }
      openAt = place + 1;
      open = reader;
      if (openAt == endOf(fileOf(place))) {
        close();
      }
      return line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private BufferedReader open(int place) throws IOException {
    int file = fileOf(place);
    return indices.get(file).from(opener.apply(files.get(file)), charset, linesBefore(place));
  }

  /** Closes what is open; it is opened again when it is needed. */
  void close() {
    BufferedReader reader = open;
    open = null;
    if (reader != null) {
      try {
        reader.close();
      } catch (IOException e) {
        return; // Nothing has been written to it.
      }
    }
  }
}
