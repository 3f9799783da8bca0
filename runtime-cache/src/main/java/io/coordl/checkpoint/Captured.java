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
  /** Length of the mark in a gap until it is filled: long enough not to occur otherwise. */
  private static final int MARK = 36;

  private static final ThreadLocal<@Nullable Captured> CURRENT = new ThreadLocal<>();

  private final byte[] mark;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final List<ModelFiles.Content> gaps = new ArrayList<>();
  private int filled;

  public Captured() {
    ByteBuffer seed = ByteBuffer.allocate(2 * Long.BYTES);
    seed.putLong(System.nanoTime()).putLong(System.identityHashCode(this));
    mark = SideFile.sha256().digest(seed.array()); // Leaves the program's random generators alone.
  }

  /** The capture in progress on this thread; null if none. */
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

  /** The bytes to write in place of an array, which {@code later} will fill. */
  public byte[] gap(ModelFiles.Content later) {
    gaps.add(later);
    return ByteBuffer.allocate(MARK).put(mark).putInt(gaps.size() - 1).array();
  }

  public byte[] bytes() {
    return bytes.toByteArray();
  }

  /** Writes captured bytes, and fills the gaps in them. */
  public void fill(byte[] captured, OutputStream out) throws IOException {
    int from = 0;
    for (int at = next(captured, 0); at >= 0; at = next(captured, from)) {
      out.write(captured, from, at - from);
      gaps.get(ByteBuffer.wrap(captured, at + mark.length, Integer.BYTES).getInt()).writeTo(out);
      filled++;
      from = at + MARK;
    }
    out.write(captured, from, captured.length - from);
  }

  /**
   * Called when everything is written; throws if a gap was not found, because the library has
   * transformed it.
   */
  public void requireFilled() throws IOException {
    if (filled != gaps.size()) {
      throw new IOException("the library writes arrays in a way that the agent does not know");
    }
  }

  private int next(byte[] captured, int from) {
    for (int at = from; at <= captured.length - MARK; at++) {
      if (captured[at] == mark[0]
          && Arrays.equals(captured, at, at + mark.length, mark, 0, mark.length)) {
        return at;
      }
    }
    return -1;
  }
}
