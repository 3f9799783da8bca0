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
 * where anybody may create files. Others may take its name with a file, a FIFO, a link or a
 * directory, so it is the first such directory that this user owns, else the first free name. If
 * others have taken all names, it lies in the user's runtime directory ({@code XDG_RUNTIME_DIR}),
 * where only this user may create files. It is deleted with its last file.
 */
public final class OwnDirectory {
  private static final int MOST = 64;
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");

  private OwnDirectory() {}

  /**
   * Its path; {@code parent} if others have taken all names and there is no runtime directory. It
   * need not exist yet.
   */
  public static Path in(Path parent) {
    return in(parent, System.getenv("XDG_RUNTIME_DIR"));
  }

  static Path in(Path parent, @Nullable String runtime) {
    Path free = null;
    try {
      long user = Machine.user();
      for (int number = 0; number < MOST; number++) {
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

  /** Null if it is not in memory, or if others may write there. */
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
    PosixFileAttributes seen = SharedFile.attributes(path);
    return seen != null
        && seen.isDirectory()
        && Owner.of(path) == user
        && OWNER_ONLY.containsAll(seen.permissions());
  }

  /**
   * Creates it unless it exists; false if {@code directory} is something else or belongs to another
   * user.
   */
  static boolean make(@Nullable Path directory, long user) throws IOException {
    if (directory == null || !isOne(directory, user)) {
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

  /** Removes it if it is empty. */
  static void remove(@Nullable Path directory, long user) {
    if (directory != null && isOne(directory, user)) {
      try {
        Files.deleteIfExists(directory);
      } catch (IOException e) {
        // Other jobs still use it.
      }
    }
  }

  private static boolean isOne(Path directory, long user) {
    return directory.getFileName().toString().matches(prefix(user) + "\\d{1,2}");
  }
}
