package io.coordl.checkpoint;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * Hashes and counts a file's bytes on their way to disk. The file is opened by the first byte or by
 * {@link #file}. Used by one thread at a time, unless noted.
 */
final class HashingStream extends OutputStream {
  /** Creates the file. */
  @FunctionalInterface
  interface Opener {
    FileOutputStream open() throws IOException;
  }

  /** Bytes between two syncs: if more are unsynced, the kernel may stall other writers. */
  private static final long MAX_UNSYNCED = 64L << 20;

  private final Opener opener;
  private final MessageDigest digest;
  private @Nullable FileOutputStream out;
  private volatile long bytes;
  private volatile boolean aborted;
  private long synced;

  HashingStream(Opener opener, MessageDigest digest) {
    this.opener = opener;
    this.digest = digest;
  }

  /** Returns the file; opens it on the first call. */
  FileOutputStream file() throws IOException {
    FileOutputStream file = out;
    if (file == null) {
      file = opener.open();
      out = file;
    }
    return file;
  }

  boolean isOpened() {
    return out != null;
  }

  /** Returns the number of bytes written so far; any thread may call this. */
  long bytes() {
    return bytes;
  }

  /** Makes all later writes fail; any thread may call this. */
  void abort() {
    aborted = true;
  }

  boolean isAborted() {
    return aborted;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] source, int offset, int length) throws IOException {
    if (aborted) {
      throw new IOException("the write was abandoned");
    }
    FileOutputStream file = file();
    file.write(source, offset, length);
    digest.update(source, offset, length);
    long total = bytes + length;
    bytes = total;
    if (total - synced >= MAX_UNSYNCED) {
      file.getFD().sync();
      synced = total;
    }
  }

  /**
   * Closes the file if it was opened. Closing this stream does not, because libraries may close it
   * early.
   */
  void end() throws IOException {
    if (out != null) {
      out.close();
    }
  }
}
