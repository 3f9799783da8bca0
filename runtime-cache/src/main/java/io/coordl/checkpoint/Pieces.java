package io.coordl.checkpoint;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * Hashes and counts a file's bytes on their way to disk. The first byte opens the file. One thread
 * at a time.
 */
final class Pieces extends OutputStream {
  /** Creates the file. */
  @FunctionalInterface
  interface Opening {
    FileOutputStream open() throws IOException;
  }

  /** Limit of bytes not yet on disk; beyond it, the kernel might stall other writers. */
  private static final long UNFORCED = 64L << 20;

  private final Opening opening;
  private final MessageDigest digest;
  private @Nullable FileOutputStream out;
  private volatile long bytes;
  private volatile boolean givenUp;
  private long forced;

  Pieces(Opening opening, MessageDigest digest) {
    this.opening = opening;
    this.digest = digest;
  }

  /** The file, opened by now. */
  FileOutputStream file() throws IOException {
    FileOutputStream file = out;
    if (file == null) {
      file = opening.open();
      out = file;
    }
    return file;
  }

  boolean isOpened() {
    return out != null;
  }

  /** Bytes written so far. Any thread. */
  long bytes() {
    return bytes;
  }

  /** Makes all later writes fail. Any thread. */
  void giveUp() {
    givenUp = true;
  }

  boolean isGivenUp() {
    return givenUp;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] source, int offset, int length) throws IOException {
    if (givenUp) {
      throw new IOException("it was given up");
    }
    FileOutputStream file = file();
    file.write(source, offset, length);
    digest.update(source, offset, length);
    long all = bytes + length;
    bytes = all;
    if (all - forced >= UNFORCED) {
      file.getFD().sync();
      forced = all;
    }
  }

  /**
   * Closes the file, if it was opened. Closing this stream does not, because a library may close
   * it.
   */
  void end() throws IOException {
    if (out != null) {
      out.close();
    }
  }
}
