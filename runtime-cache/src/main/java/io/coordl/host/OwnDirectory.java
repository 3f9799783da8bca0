package io.coordl.host;

import io.coordl.telemetry.live.Owner;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The directory that one user's jobs share: {@code coordl-UID-N} with mode 0700, in a directory
 * where any user may create files. Another user may take a name with a file, FIFO, link or
 * directory, so jobs use the first such directory that this user owns; else one that already exists
 * in the user's runtime directory ({@code XDG_RUNTIME_DIR}), where only this user may create files;
 * else the first free name. If others have taken all names, jobs create the directory in the
 * runtime directory. The directory is deleted with its last file.
 */
public final class OwnDirectory {
  private static final int MAX_NUMBERS = 64;
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");

  private OwnDirectory() {}

  /**
   * Returns the directory's path, which need not exist yet; {@code parent} if others have taken all
   * names and there is no usable runtime directory, or if the owners cannot be determined.
   */
  public static Path in(Path parent) {
    return in(parent, System.getenv("XDG_RUNTIME_DIR"));
  }

  static Path in(Path parent, @Nullable String runtime) {
    Path free = null;
    try {
      long user = Machine.user();
      for (int number = 0; number < MAX_NUMBERS; number++) {
        Path path = parent.resolve(prefix(user) + number);
        if (isOurs(path, user)) {
          return path;
        }
        free = free == null && !Files.exists(path, LinkOption.NOFOLLOW_LINKS) ? path : free;
      }
      Path own = runtime == null ? null : inRuntime(Path.of(runtime), user);
      boolean isUsed = own != null && isOurs(own, user);
      return free != null && !isUsed ? free : own != null ? own : parent;
    } catch (IOException | InvalidPathException e) {
      return free == null ? parent : free;
    }
  }

  /** Returns the path in the runtime directory; null if that is not in memory or not private. */
  private static @Nullable Path inRuntime(Path runtime, long user) throws IOException {
    return runtime.isAbsolute()
            && isOurs(runtime, user)
            && Files.getFileStore(runtime).type().equals("tmpfs")
        ? runtime.resolve(prefix(user) + 0)
        : null;
  }

  private static String prefix(long user) {
    return "coordl-" + user + "-";
  }

  private static boolean isOurs(Path path, long user) throws IOException {
    PosixFileAttributes attributes = SharedFile.attributes(path);
    return attributes != null
        && attributes.isDirectory()
        && Owner.of(path) == user
        && OWNER_ONLY.containsAll(attributes.permissions());
  }

  /**
   * Creates the directory unless it exists; returns false if its name is not one of this user's, or
   * if another user owns it or may access it.
   */
  static boolean make(@Nullable Path directory, long user) throws IOException {
    if (directory == null || !hasOurName(directory, user)) {
      return false;
    }
    try {
      Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
      // The umask may have removed these permissions.
      Files.setPosixFilePermissions(directory, EnumSet.copyOf(OWNER_ONLY));
    } catch (FileAlreadyExistsException e) {
      // Another job created it.
    }
    return isOurs(directory, user);
  }

  /** Removes the directory if it is empty. */
  static void remove(@Nullable Path directory, long user) {
    if (directory != null && hasOurName(directory, user)) {
      try {
        Files.deleteIfExists(directory);
      } catch (IOException e) {
        // Other jobs still use it.
      }
    }
  }

  private static boolean hasOurName(Path directory, long user) {
    return directory.getFileName().toString().matches(prefix(user) + "\\d{1,2}");
  }
}
