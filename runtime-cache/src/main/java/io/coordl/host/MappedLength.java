package io.coordl.host;

import io.coordl.bridge.OpenItem;
import java.io.IOException;
import java.io.RandomAccessFile;

/**
 * Protects a process that has mapped a file from another program of the user that truncates it. If
 * the JVM reads or stores behind the end of the file, it throws an {@link InternalError} at the
 * next safepoint. An atomic change there, or an intrinsic for checksums and comparisons, crashes
 * the process. So the length is checked before each change of the mapping. If the file is truncated
 * in the microsecond between check and change, the process still crashes.
 */
public final class MappedLength {
  private MappedLength() {}

  /**
   * Throws, like a read behind the end, if the file is shorter than its mapping, or closed. Makes a
   * system call; uses no channel, because the program's interrupts would close it.
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

  /** Makes the JVM throw now any error that an access of this thread has caused. */
  public static void settle() {
    OpenItem.settle();
  }
}
