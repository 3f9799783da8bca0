package io.coordl.checkpoint;

import io.coordl.host.MemoryWatch;
import io.coordl.telemetry.log.OnceLog;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Memory budget of snapshots. Once memory is short, no more snapshots are taken, and the job waits
 * until its files are written, as with {@code checkpoint=atomic}. Safe for concurrent use.
 */
public final class SnapshotMemory implements MemoryWatch.Holder {
  static final int PIECE = 4 << 20;

  private final LongSupplier limit;
  private final OnceLog log;
  private final Deque<ByteBuffer> pieces = new ArrayDeque<>();
  private long budget = -1;
  private long reserved;
  private boolean memoryShort;

  SnapshotMemory(LongSupplier limit, OnceLog log) {
    this.limit = limit;
    this.log = log;
  }

  /**
   * Reserves {@code size} bytes for a snapshot; returns false, and logs once, if too few are left.
   */
  public synchronized boolean take(long size) {
    if (budget < 0) {
      budget = limit.getAsLong();
    }
    if (size > budget - reserved) {
      log.once(
          "staging",
          "checkpoint=async: "
              + (memoryShort
                  ? "memory is short"
                  : "snapshots need more than their budget of "
                      + mebibytes(budget)
                      + " (checkpoint.size)")
              + ", so the job waits until the file is written, as with checkpoint=atomic.");
      return false;
    }
    reserved += size;
    return true;
  }

  public synchronized void give(long size) {
    reserved -= size;
  }

  /** Returns a buffer to write to; null if there is no memory. */
  @Nullable ByteBuffer takePiece() {
    synchronized (this) {
      ByteBuffer old = pieces.poll();
      if (old != null) {
        return old.clear();
      }
    }
    if (!take(PIECE)) {
      return null;
    }
    try {
      return ByteBuffer.allocateDirect(PIECE);
    } catch (OutOfMemoryError e) {
      give(PIECE);
      return null;
    }
  }

  synchronized void givePiece(ByteBuffer piece) {
    if (memoryShort) {
      reserved -= PIECE;
    } else {
      pieces.push(piece);
    }
  }

  @Override
  public String noun() {
    return "snapshot memory";
  }

  @Override
  public String argument() {
    return "checkpoint.size";
  }

  @Override
  public boolean yields() {
    return true;
  }

  /** Returns the bytes in buffers that no snapshot uses. */
  @Override
  public synchronized long held() {
    return (long) PIECE * pieces.size();
  }

  @Override
  public synchronized long giveBack(long bytes) {
    long held = held();
    pieces.clear();
    reserved -= held;
    budget = 0;
    memoryShort = true;
    return held;
  }

  static String mebibytes(long size) {
    return String.format(Locale.ROOT, "%.1f MiB", size / (double) (1 << 20));
  }
}
