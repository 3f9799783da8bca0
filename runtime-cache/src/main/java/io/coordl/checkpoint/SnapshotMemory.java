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
 * The memory that snapshots may take. Once memory is short, no snapshots are taken, and the job
 * waits for its files as with {@code checkpoint=atomic}. Safe for concurrent use.
 */
public final class SnapshotMemory implements MemoryWatch.Holder {
  static final int PIECE = 4 << 20;

  private final LongSupplier limit;
  private final OnceLog log;
  private final Deque<ByteBuffer> pieces = new ArrayDeque<>();
  private long budget = -1;
  private long taken;
  private boolean givenBack;

  SnapshotMemory(LongSupplier limit, OnceLog log) {
    this.limit = limit;
    this.log = log;
  }

  /** Reserves {@code size} bytes for a snapshot; logs once if there are too few. */
  public synchronized boolean take(long size) {
    if (budget < 0) {
      budget = limit.getAsLong();
    }
    if (size > budget - taken) {
      log.once(
          "staging",
          "checkpoint=async: "
              + (givenBack
                  ? "memory is short"
                  : "a snapshot takes more than the "
                      + mebibytes(budget)
                      + " that it may (checkpoint.size)")
              + ", so the job waits until the file is written, as with checkpoint=atomic.");
      return false;
    }
    taken += size;
    return true;
  }

  public synchronized void give(long size) {
    taken -= size;
  }

  /** A reusable buffer to write to; null if there is no memory. */
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
    if (givenBack) {
      taken -= PIECE;
    } else {
      pieces.push(piece);
    }
  }

  @Override
  public String noun() {
    return "memory of snapshots";
  }

  @Override
  public String argument() {
    return "checkpoint.size";
  }

  @Override
  public boolean yields() {
    return true;
  }

  /** Bytes that no snapshot uses now. */
  @Override
  public synchronized long held() {
    return (long) PIECE * pieces.size();
  }

  @Override
  public synchronized long giveBack(long bytes) {
    long held = held();
    pieces.clear();
    taken -= held;
    budget = 0;
    givenBack = true;
    return held;
  }

  static String mebibytes(long size) {
    return String.format(Locale.ROOT, "%.1f MiB", size / (double) (1 << 20));
  }
}
