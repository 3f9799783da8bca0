package io.coordl.host;

import io.coordl.bridge.OpenItem;
import java.io.IOException;
import java.io.RandomAccessFile;

/**
 * Guards a process against truncation of a file that it has mapped. A plain read or write past the
 * end of the file makes the JVM throw an {@link InternalError} at the next safepoint. An atomic
 * operation there, or an intrinsic for checksums or comparisons, crashes the process, so callers
 * check the length before each change of the mapping. A truncation in the microsecond between check
 * and change still crashes the process.
 */
public final class MappedLength {
  private MappedLength() {}

  /**
   * Throws, like a read past the end, if the file is closed or shorter than its mapping. Costs a
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

  /** Makes the JVM throw any pending error from this thread's accesses. */
  public static void settle() {
    OpenItem.settle();
  }
}
