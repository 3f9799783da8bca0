package io.coordl.dl4j;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Where the lines of a file begin: lines as {@link BufferedReader} has them, so ended by a line
 * feed, a carriage return, or both. One place is kept of every {@value #STEP}, so that a gigabyte
 * of short lines takes a few megabytes. Immutable.
 */
final class LineIndex {
  private static final int STEP = 64;
  private static final int CHUNK = 1 << 16;

  /** In which a byte of a line's end is nothing else, and decoding may begin at any line. */
  private static final List<Charset> KNOWN =
      List.of(StandardCharsets.UTF_8, StandardCharsets.US_ASCII, StandardCharsets.ISO_8859_1);

  private final int lines;
  private final long[] starts;
  private final boolean hashes;

  private LineIndex(int lines, long[] starts, boolean hashes) {
    this.lines = lines;
    this.starts = starts;
    this.hashes = hashes;
  }

  /** Whether lines can be told apart without decoding them. */
  static boolean knows(Charset charset) {
    return KNOWN.contains(charset);
  }

  /**
   * Reads all of a file, once.
   *
   * @param in from its beginning; not closed
   * @throws ArithmeticException if it has more lines than can be numbered
   */
  static LineIndex of(InputStream in) throws IOException {
    byte[] chunk = new byte[CHUNK];
    long[] starts = new long[16];
    int lines = 0;
    long at = 0;
    boolean inLine = false;
    boolean hashes = false;
    boolean afterReturn = false;
    for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
      for (int i = 0; i < read; i++, at++) {
        byte b = chunk[i];
        if (b == '\n' && afterReturn) {
          afterReturn = false; // It ended with the carriage return.
          continue;
        }
        if (!inLine) {
          if (lines % STEP == 0) {
            starts =
                lines / STEP == starts.length ? Arrays.copyOf(starts, 2 * lines / STEP) : starts;
            starts[lines / STEP] = at;
          }
          lines = Math.incrementExact(lines);
          hashes |= b == '#';
        }
        inLine = b != '\n' && b != '\r';
        afterReturn = b == '\r';
      }
    }
    return new LineIndex(lines, Arrays.copyOf(starts, (lines + STEP - 1) / STEP), hashes);
  }

  int lines() {
    return lines;
  }

  /** Whether there are lines that begin with a hash, which are comments in some formats. */
  boolean hasHashes() {
    return hashes;
  }

  /**
   * A reader whose next line is that one.
   *
   * @param in from the file's beginning; taken over, closed if this fails
   * @param line from 0 on, below {@link #lines}
   */
  BufferedReader from(InputStream in, Charset charset, int line) throws IOException {
    BufferedReader reader = new BufferedReader(new InputStreamReader(in, charset));
    try {
      in.skipNBytes(starts[line / STEP]);
      for (int i = line % STEP; i > 0; i--) {
        reader.readLine();
      }
      return reader;
    } catch (IOException | RuntimeException e) {
      reader.close();
      throw e;
    }
  }
}
