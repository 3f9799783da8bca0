package io.coordl.live;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;

/**
 * Where a job shows what it does now: a small recording in shared memory that the job writes anew
 * each second, readable by its user only. A job that ends removes it; that of one that was killed
 * stays until another job starts an hour later or more.
 *
 * @param path {@code coordl-USER-PID-START.status}: processes of several containers that share
 *     memory may have one PID
 * @param pid of the job
 * @param jvmStart when its JVM started, in milliseconds since 1970
 */
public record StatusFile(Path path, long pid, long jvmStart) {
  /** Since when a job must not have been heard of, for its file to be removed. */
  private static final Duration KEPT = Duration.ofHours(1);

  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final String UNFINISHED = ".new";
  private static final Pattern NAME = Pattern.compile(".*-(\\d{1,18})-(\\d{1,18})\\.status");

  /** Shared memory; without it, where temporary files go. */
  public static Path directory() {
    return Files.isWritable(SHARED_MEMORY)
        ? SHARED_MEMORY
        : Path.of(System.getProperty("java.io.tmpdir"));
  }

  public static StatusFile of(Path directory, long pid, long jvmStart) {
    return new StatusFile(
        directory.resolve(prefix() + pid + "-" + jvmStart + ".status"), pid, jvmStart);
  }

  private static String prefix() {
    return "coordl-" + user().replaceAll("[^A-Za-z0-9._]", "_") + "-";
  }

  private static String user() {
    try {
      return Long.toString(Owner.user());
    } catch (IOException e) {
      return System.getProperty("user.name", "");
    }
  }

  /** The files of this user's jobs, those that no longer run too; no link, and nobody else's. */
  public static List<StatusFile> all(Path directory) throws IOException {
    List<StatusFile> found = new ArrayList<>();
    for (Path file : own(directory, "*.status")) {
      Matcher name = NAME.matcher(file.getFileName().toString());
      if (name.matches()) {
        found.add(
            new StatusFile(file, Long.parseLong(name.group(1)), Long.parseLong(name.group(2))));
      }
    }
    return found;
  }

  private static List<Path> own(Path directory, String ending) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, prefix() + ending)) {
      return StreamSupport.stream(files.spliterator(), false).filter(StatusFile::isOwn).toList();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  private static boolean isOwn(Path file) {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    if (!file.getFileSystem().supportedFileAttributeViews().contains("unix")) {
      return true; // On Windows each user has a directory for temporary files.
    }
    try {
      return Owner.of(file) == Owner.user();
    } catch (IOException e) {
      return false; // It has gone, most likely.
    }
  }

  /** Removes what jobs left that were killed long ago; others may do the same meanwhile. */
  public static void sweep(Path directory) throws IOException {
    FileTime limit = FileTime.from(Instant.now().minus(KEPT));
    for (Path file : own(directory, "*.status{," + UNFINISHED + "}")) {
      try {
        if (Files.getLastModifiedTime(file).compareTo(limit) < 0) {
          Files.deleteIfExists(file);
        }
      } catch (IOException e) {
        // Another one was faster.
      }
    }
  }

  /** Where it is written, to be moved in its place. */
  public Path unfinished() {
    return path.resolveSibling(path.getFileName() + UNFINISHED);
  }
}
