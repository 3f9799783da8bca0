package io.coordl.telemetry.live;

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
 * Live status of a job: a small recording in shared memory that the job rewrites every second,
 * readable by its user only. The job removes it at exit. If the job was killed, the file stays
 * until another job starts at least an hour later.
 *
 * @param path {@code coordl-USER-PID-START.status}; the start is part of the name because processes
 *     in different containers that share memory may have the same PID
 * @param pid process ID of the job
 * @param jvmStart when its JVM started, in milliseconds since 1970
 */
public record StatusFile(Path path, long pid, long jvmStart) {
  /** A sweep removes files that have not been rewritten for this long. */
  private static final Duration MAX_AGE = Duration.ofHours(1);

  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final String UNFINISHED = ".new";
  private static final Pattern NAME = Pattern.compile(".*-(\\d{1,18})-(\\d{1,18})\\.status");

  /** Returns the directory of shared memory; if it is not writable, that of temporary files. */
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

  /** Returns the files of this user's jobs, including killed jobs; never links. */
  public static List<StatusFile> all(Path directory) throws IOException {
    List<StatusFile> jobs = new ArrayList<>();
    for (Path file : ownFiles(directory, "*.status")) {
      Matcher name = NAME.matcher(file.getFileName().toString());
      if (name.matches()) {
        jobs.add(
            new StatusFile(file, Long.parseLong(name.group(1)), Long.parseLong(name.group(2))));
      }
    }
    return jobs;
  }

  private static List<Path> ownFiles(Path directory, String ending) throws IOException {
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
      return false; // Most likely, the file is gone.
    }
  }

  /** Removes the files of jobs killed long ago; other jobs may do the same at the same time. */
  public static void sweep(Path directory) throws IOException {
    FileTime limit = FileTime.from(Instant.now().minus(MAX_AGE));
    for (Path file : ownFiles(directory, "*.status{," + UNFINISHED + "}")) {
      try {
        if (Files.getLastModifiedTime(file).compareTo(limit) < 0) {
          Files.deleteIfExists(file);
        }
      } catch (IOException e) {
        // Another job removed it first.
      }
    }
  }

  /** Returns the temporary file to write before moving it into place. */
  public Path unfinished() {
    return path.resolveSibling(path.getFileName() + UNFINISHED);
  }
}
