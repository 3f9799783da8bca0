package io.coordl.checkpoint;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;

/** A file's bytes on their way to the disk, hashed and counted. Of one thread at a time. */
final class Pieces extends OutputStream {
  /** What is not on the disk yet stays below this, lest the kernel stops others to write it. */
  private static final long UNFORCED = 64L << 20;

  private final FileOutputStream out;
  private final MessageDigest digest;
  private volatile long bytes;
  private volatile boolean givenUp;
  private long forced;

  Pieces(FileOutputStream out, MessageDigest digest) {
    this.out = out;
    this.digest = digest;
  }

  /** How many have been written. Any thread. */
  long bytes() {
    return bytes;
  }

  /** From now on whatever is written fails. Any thread. */
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
    out.write(source, offset, length);
    digest.update(source, offset, length);
    long all = bytes + length;
    bytes = all;
    if (all - forced >= UNFORCED) {
      out.getFD().sync();
      forced = all;
    }
  }
}
