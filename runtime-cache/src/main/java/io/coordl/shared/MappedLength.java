package io.coordl.shared;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ref.Reference;

/**
 * What protects a process from a file that it has mapped and that another program of the user
 * truncates. Where the JVM reads or stores behind the end of the file, it throws an {@link
 * InternalError}, at the next safepoint; where it changes a word atomically there, or runs its own
 * code for checksums and comparisons, the process ends. So the length is looked at before each
 * change of the mapping. A file that is truncated in the microsecond between look and change still
 * ends the process.
 */
public final class MappedLength {
  /** What no compiler may take for a constant. */
  private static volatile int one = 1;

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

  /**
   * Lets the JVM throw now what an access of this thread has caused. It does so when the thread
   * comes back from the JVM's own code, for which compiled code has little cause: to make arrays of
   * arrays is one, a native method is none.
   */
  @SuppressWarnings("ReachabilityFenceUsage") // So that the arrays are made.
  public static void settle() {
    int length = one;
    Reference.reachabilityFence(new byte[length][length]);
  }
}
