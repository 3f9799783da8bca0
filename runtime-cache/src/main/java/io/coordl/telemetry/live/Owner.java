package io.coordl.telemetry.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * Identifies users by numeric ID, because containers that share files may give them different names
 * or none. Safe for concurrent use.
 */
public final class Owner {
  private static final Path PROCESS = Path.of("/proc/self");

  private Owner() {}

  /** Returns the user of this process; throws if that is unknown, as on Windows. */
  public static long user() throws IOException {
    return user(PROCESS);
  }

  static long user(Path process) throws IOException {
    return Files.exists(process) ? of(process, true) : Cached.get();
  }

  /**
   * Returns the owner of a file, or of a link, which is not followed; throws if the file does not
   * exist or its file system has no numeric user IDs.
   */
  public static long of(Path file) throws IOException {
    return of(file, false);
  }

  private static long of(Path file, boolean follow) throws IOException {
    LinkOption[] links = follow ? new LinkOption[0] : new LinkOption[] {LinkOption.NOFOLLOW_LINKS};
    try {
      return (Integer) Files.getAttribute(file, "unix:uid", links) & 0xffffffffL;
    } catch (UnsupportedOperationException | IllegalArgumentException e) {
      throw new IOException("this system has no numeric user IDs", e);
    }
  }

  /** Without /proc, the owner of a newly created file is the user of this process. */
  private static final class Cached {
    private static long user = -1;

    static synchronized long get() throws IOException {
      if (user < 0) {
        Path own = Files.createTempFile("coordl-", null);
        try {
          user = of(own);
        } finally {
          Files.deleteIfExists(own);
        }
      }
      return user;
    }
  }
}
