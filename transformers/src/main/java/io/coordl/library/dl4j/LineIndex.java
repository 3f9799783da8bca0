package io.coordl.library.dl4j;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * The start positions of a file's lines, which end with a line feed, a carriage return, or both, as
 * in {@link BufferedReader}. Stores the position of every {@value #STEP}th line, doubling that step
 * whenever more than {@value #MAX_PLACES} positions would be stored. Immutable.
 */
final class LineIndex {
  private static final int STEP = 64;
  private static final int CHUNK = 1 << 16;
  private static final int MAX_PLACES = 1 << 20;

  /**
   * Heap bytes to reserve per line: an estimated 20 for the order of an epoch and its copies, plus
   * a margin.
   */
  private static final int HEAP_BYTES_PER_LINE = 64;

  /**
   * Charsets in which the bytes of a line end occur nowhere else, so that decoding may begin at any
   * line.
   */
  private static final List<Charset> KNOWN =
      List.of(StandardCharsets.UTF_8, StandardCharsets.US_ASCII, StandardCharsets.ISO_8859_1);

  private final int lines;
  private final Places places;
  private final boolean hashes;

  private LineIndex(int lines, Places places, boolean hashes) {
    this.lines = lines;
    this.places = places;
    this.hashes = hashes;
  }

  /** Positions of the stored lines. */
  private static final class Places {
    private final int maxPlaces;
    private long[] starts = new long[16];
    private int count;
    private int step = STEP;

    Places(int maxPlaces) {
      this.maxPlaces = maxPlaces;
    }

    /** Must be called for each line in order. */
    void add(int line, long start) {
      if (line % step != 0) {
        return;
      }
      if (count == maxPlaces) {
        for (int i = 0; 2 * i < count; i++) {
          starts[i] = starts[2 * i];
        }
        count = (count + 1) / 2;
        step *= 2;
        if (line % step != 0) {
          return;
        }
      }
      if (count == starts.length) {
        starts = Arrays.copyOf(starts, Math.min(maxPlaces, 2 * count));
      }
      starts[count++] = start;
    }
  }

  /** Returns the maximum number of lines whose order fits into the heap. */
  static int maxLines() {
    long room = Runtime.getRuntime().maxMemory() / HEAP_BYTES_PER_LINE;
    return (int) Math.min(room, Integer.MAX_VALUE - 1);
  }

  /** Whether lines can be separated without decoding them. */
  static boolean knows(Charset charset) {
    return KNOWN.contains(charset);
  }

  /**
   * Reads a whole file once, but at most {@link #maxLines} + 1 lines.
   *
   * @param in positioned at the start of the file; not closed
   */
  static LineIndex of(InputStream in) throws IOException {
    return of(in, MAX_PLACES, maxLines());
  }

  /**
   * Reads a whole file, but at most {@code maxLines} + 1 lines.
   *
   * @param maxPlaces maximum number of positions to store; an even number, at least 16
   */
  static LineIndex of(InputStream in, int maxPlaces, int maxLines) throws IOException {
    byte[] chunk = new byte[CHUNK];
    Places places = new Places(maxPlaces);
    int lines = 0;
    long at = 0;
    boolean inLine = false;
    boolean hashes = false;
    boolean afterReturn = false;
    for (int read = in.read(chunk); read >= 0 && lines <= maxLines; read = in.read(chunk)) {
      for (int i = 0; i < read && lines <= maxLines; i++, at++) {
        byte b = chunk[i];
        if (b == '\n' && afterReturn) {
          afterReturn = false; // The carriage return has already ended the line.
          continue;
        }
        if (!inLine) {
          places.add(lines, at);
          lines++;
          hashes |= b == '#';
        }
        inLine = b != '\n' && b != '\r';
        afterReturn = b == '\r';
      }
    }
    return new LineIndex(lines, places, hashes);
  }

  /** Returns the number of lines; one more than {@link #maxLines} if there are more. */
  int lines() {
    return lines;
  }

  /** Whether some lines begin with a hash, which marks comments in some formats. */
  boolean hasHashes() {
    return hashes;
  }

  /**
   * Returns a reader positioned at the given line.
   *
   * @param in positioned at the start of the file; the returned reader closes it, as does this
   *     method if it fails
   * @param line index of the line: 0 or more, below {@link #lines}
   */
  BufferedReader from(InputStream in, Charset charset, int line) throws IOException {
    BufferedReader reader = new BufferedReader(new InputStreamReader(in, charset));
    try {
      in.skipNBytes(places.starts[line / places.step]);
      for (int i = line % places.step; i > 0; i--) {
        reader.readLine();
      }
      return reader;
    } catch (IOException | RuntimeException e) {
      reader.close();
      throw e;
    }
  }
}
