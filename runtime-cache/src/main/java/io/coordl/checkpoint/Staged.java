package io.coordl.checkpoint;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Buffers a file's content in memory until it is written. If it does not fit, all of it goes to the
 * file immediately. Closing this stream does nothing. Used by one thread at a time.
 */
final class Staged extends OutputStream {
  private final SnapshotMemory memory;
  private final OutputStream file;
  private final List<ByteBuffer> pieces = new ArrayList<>();
  private boolean flushed;

  /** Starts empty; content that does not fit in memory goes to {@code file}. */
  public Staged(SnapshotMemory memory, OutputStream file) {
    this.memory = memory;
    this.file = file;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] source, int offset, int length) throws IOException {
    int from = offset;
    int end = offset + length;
    while (from < end && !flushed) {
      ByteBuffer piece = piece();
      if (piece != null) {
        int n = Math.min(end - from, piece.remaining());
        piece.put(source, from, n);
        from += n;
      }
    }
    if (from < end) {
      file.write(source, from, end - from);
    }
  }

  /** Returns a buffer with room; null if memory is short, after writing all content to the file. */
  private @Nullable ByteBuffer piece() throws IOException {
    ByteBuffer last = pieces.isEmpty() ? null : pieces.get(pieces.size() - 1);
    if (last != null && last.hasRemaining()) {
      return last;
    }
    ByteBuffer next = memory.takePiece();
    if (next == null) {
      writeTo(file);
      flushed = true;
      return null;
    }
    pieces.add(next);
    return next;
  }

  public boolean isFlushed() {
    return flushed;
  }

  /** Writes the buffered content and releases its memory. */
  public void writeTo(OutputStream out) throws IOException {
    byte[] chunk = new byte[1 << 16];
    try {
      for (ByteBuffer piece : pieces) {
        piece.flip();
        while (piece.hasRemaining()) {
          int n = Math.min(chunk.length, piece.remaining());
          piece.get(chunk, 0, n);
          out.write(chunk, 0, n);
        }
      }
    } finally {
      discard();
    }
  }

  public void discard() {
    pieces.forEach(memory::givePiece);
    pieces.clear();
  }
}
