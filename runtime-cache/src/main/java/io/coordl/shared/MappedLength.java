package io.coordl.shared;

import io.coordl.bridge.OpenItem;
import java.io.IOException;
import java.io.RandomAccessFile;

/**
 * What protects a process from a file that it has mapped and that another program of the user
 * truncates. Where the JVM reads or stores behind the end of the file, it throws an {@link
 * InternalError}, at the next safepoint; where it changes a word atomically there, or runs its own
 * code for checksums and comparisons, the process ends. So the length is looked at before each
 * change of the mapping. A file that is truncated in the microsecond between look and change still
 * ends the process.
 */
public final class MappedLength {
  private MappedLength() {}

  /**
   * Throws, as a read behind the end does, if the file is shorter than what is mapped of it, or
   * closed. A system call; no channel, which the program's interrupts would close.
   */
  public static void check(RandomAccessFile file, long mapped) {
    long length;
    try {
      length = file.length();
    } catch (IOException e) {
      throw new InternalError("its file is closed", e);
    }
    if (length < mapped) {
      throw new InternalError("its file has " + length + " bytes, not " + mapped);
    }
  }

  /** Lets the JVM throw now what an access of this thread has caused. */
  public static void settle() {
    OpenItem.settle();
  }
}
