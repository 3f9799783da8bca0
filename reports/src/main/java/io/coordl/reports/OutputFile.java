package io.coordl.reports;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.RecordingException;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A file that a command writes. Obstacles are reported before the work begins, and the file appears
 * completely or not at all.
 */
record OutputFile(Path path) {

  /**
   * Checks that the file can be written.
   *
   * @param force whether to overwrite an existing file
   */
  static OutputFile of(Path path, boolean force) throws RecordingException {
    Path folder = folder(path);
    if (path.toString().equals("-")) {
      throw new RecordingException(
          ExitStatus.UNWRITABLE,
          "- is not a file, and this command does not write to stdout: name a file.");
    }
    if (Files.isDirectory(path)) {
      throw new RecordingException(
          ExitStatus.UNWRITABLE, path + " is a directory: name the file to write in it.");
    }
    if (!Files.isDirectory(folder)) {
      throw new RecordingException(
          ExitStatus.UNWRITABLE,
          path + " cannot be written: there is no directory " + folder + "; create it first.");
    }
    if (Files.exists(path)) {
      if (!force) {
        throw new RecordingException(
            ExitStatus.UNWRITABLE,
            path + " already exists: name another file, or overwrite it with --force.");
      }
      if (!Files.isRegularFile(path)) {
        throw new RecordingException(
            ExitStatus.UNWRITABLE, path + " is not a file that can be overwritten.");
      }
    }
    if (!Files.isWritable(folder)) {
      throw new RecordingException(
          ExitStatus.UNWRITABLE,
          path + " cannot be written: this user is not allowed to write to " + folder + ".");
    }
    return new OutputFile(path);
  }

  /**
   * Checks that a file derived from recordings can be written and is not one of them.
   *
   * @param requested null for a file beside the first recording, with its name and {@code end}
   */
  static OutputFile of(@Nullable Path requested, List<Path> recordings, String end, boolean force)
      throws RecordingException {
    OutputFile file = of(requested == null ? beside(recordings.get(0), end) : requested, force);
    for (Path recording : recordings) {
      file.checkIsNot(recording);
    }
    return file;
  }

  private static Path beside(Path recording, String end) {
    return recording.resolveSibling(
        recording.getFileName().toString().replaceFirst("\\.jfr$", "") + end);
  }

  private void checkIsNot(Path input) throws RecordingException {
    try {
      if (Files.exists(path) && Files.exists(input) && Files.isSameFile(path, input)) {
        throw new RecordingException(
            ExitStatus.UNWRITABLE, path + " is the recording itself: name another file to write.");
      }
    } catch (IOException e) {
      throw cannotWrite(e);
    }
  }

  /** Writes the content of the file. */
  interface Content {
    void writeTo(Writer file) throws IOException, RecordingException;
  }

  void write(Content content) throws RecordingException {
    create(
        part -> {
          Output out = new Output(Files.newOutputStream(part));
          try (Writer file = new BufferedWriter(new OutputStreamWriter(out, UTF_8))) {
            content.writeTo(file);
          } catch (RecordingException | RuntimeException e) {
            // Report the failed write itself, however the content's code has wrapped it.
            IOException failure = out.failure();
            if (failure != null) {
              throw failure;
            }
            throw e;
          }
        });
  }

  /** Creates the file under a temporary name. */
  interface Creator {
    void create(Path part) throws IOException, RecordingException;
  }

  void create(Creator creator) throws RecordingException {
    try {
      // In the same directory, so the move is a rename. Not created as a temporary file, which
      // would have narrower permissions.
      Path part =
          folder(path).resolve("." + path.getFileName() + "." + ProcessHandle.current().pid());
      try {
        creator.create(part);
        Files.move(part, path, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(part);
      }
    } catch (IOException e) {
      throw cannotWrite(e);
    }
  }

  private RecordingException cannotWrite(IOException e) {
    // For a file that cannot be created, the message is only its path.
    String why = e instanceof FileSystemException failed ? failed.getReason() : e.getMessage();
    return new RecordingException(
        ExitStatus.UNWRITABLE,
        path
            + " cannot be written: "
            + (why == null
                ? String.format(
                    "no file can be created in %s (%s)", folder(path), e.getClass().getSimpleName())
                : why)
            + ".");
  }

  private static Path folder(Path path) {
    Path folder = path.toAbsolutePath().getParent();
    return folder == null ? path.toAbsolutePath() : folder;
  }
}
