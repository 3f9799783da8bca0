package io.coordl.checkpoint;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot: the bytes that a library writes for a model, with gaps in place of its large arrays.
 * The arrays are copied when the library reaches them, and encoded when the file is written. Used
 * by one thread at a time.
 */
public final class Captured {
  /**
   * Bytes that stand for one array: a marker too long to occur by chance, then the index of the
   * array.
   */
  private static final int GAP_BYTES = 36;

  private static final ThreadLocal<@Nullable Captured> CURRENT = new ThreadLocal<>();

  private final byte[] marker;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final List<ModelFiles.Content> gaps = new ArrayList<>();
  private int filled;

  public Captured() {
    ByteBuffer seed = ByteBuffer.allocate(2 * Long.BYTES);
    seed.putLong(System.nanoTime()).putLong(System.identityHashCode(this));
    // A hash: drawing a random number could change the program's random state.
    marker = SideFile.sha256().digest(seed.array());
  }

  /** Returns the capture in progress on this thread; null if none. */
  public static @Nullable Captured current() {
    return CURRENT.get();
  }

  /** Runs {@code content} and captures what it writes; its arrays are passed to {@link #gap}. */
  public void capture(ModelFiles.Content content) throws IOException {
    CURRENT.set(this);
    try {
      content.writeTo(bytes);
    } finally {
      CURRENT.remove();
    }
  }

  /** Returns the bytes to write in place of an array; {@code later} writes the array itself. */
  public byte[] gap(ModelFiles.Content later) {
    gaps.add(later);
    return ByteBuffer.allocate(GAP_BYTES).put(marker).putInt(gaps.size() - 1).array();
  }

  public byte[] bytes() {
    return bytes.toByteArray();
  }

  /** Writes captured bytes, with each gap replaced by its array. */
  public void fill(byte[] captured, OutputStream out) throws IOException {
    int from = 0;
    for (int at = nextGap(captured, 0); at >= 0; at = nextGap(captured, from)) {
      out.write(captured, from, at - from);
      gaps.get(ByteBuffer.wrap(captured, at + marker.length, Integer.BYTES).getInt()).writeTo(out);
      filled++;
      from = at + GAP_BYTES;
    }
    out.write(captured, from, captured.length - from);
  }

  /**
   * Checks that every gap was filled, once everything is written.
   *
   * @throws IOException if the library transformed a gap, so that it was not found
   */
  public void requireFilled() throws IOException {
    if (filled != gaps.size()) {
      throw new IOException("the library writes arrays in a format unknown to the agent");
    }
  }

  private int nextGap(byte[] captured, int from) {
    for (int at = from; at <= captured.length - GAP_BYTES; at++) {
      if (captured[at] == marker[0]
          && Arrays.equals(captured, at, at + marker.length, marker, 0, marker.length)) {
        return at;
      }
    }
    return -1;
  }
}
