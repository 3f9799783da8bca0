package io.coordl.reports;

import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.JobActivity;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.recording.RecordingReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Reads recordings for a command: add with {@code @Mixin}, and call {@link #read}. */
final class ReadingOptions {
  private static final int MAX_BESIDE = 12;
  private static final long MAX_BESIDE_BYTES = 64L << 20;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--no-progress",
      description =
          "Draw no progress bar. By default one is drawn for large files if stderr is a terminal.")
  private boolean noProgress;

  /** One sentence per file that could not be read. */
  final List<String> unread = new ArrayList<>();

  /** Exit status of the last unreadable file. */
  ExitStatus status = ExitStatus.DONE;

  /** Reads one recording, with a progress bar if it is large. */
  JobRecording read(Path file) throws RecordingException {
    try (ProgressBar bar = bar(file)) {
      return RecordingReader.read(file, bar);
    }
  }

  /** Reads one recording with the time of each step. */
  JobRecording readSteps(Path file) throws RecordingException {
    try (ProgressBar bar = bar(file)) {
      return RecordingReader.readSteps(file, bar);
    }
  }

  /** Reads one recording with the time of every batch, item and transform. */
  JobActivity readInFull(Path file) throws RecordingException {
    try (ProgressBar bar = bar(file)) {
      return RecordingReader.readInFull(file, bar);
    }
  }

  interface Reader<T> {
    T read(Path file) throws RecordingException;
  }

  /**
   * Reads several files. Reports unreadable ones on stderr and returns the others; throws if none
   * can be read.
   */
  <T> List<T> each(List<Path> files, Reader<T> reader) throws RecordingException {
    List<T> read = new ArrayList<>();
    for (int i = 0; i < files.size(); i++) {
      try {
        read.add(reader.read(files.get(i)));
      } catch (RecordingException e) {
        if (read.isEmpty() && i == files.size() - 1) {
          throw e;
        }
        status = e.status();
        unread.add(String.valueOf(e.getMessage()));
        Commands.printError(command.commandLine(), e);
      }
    }
    return read;
  }

  /**
   * Returns the newest other recordings in the directories of {@code files}. Silently skips large
   * and unreadable files, because these recordings are only additional evidence.
   */
  List<JobRecording> beside(List<Path> files) {
    Set<Path> known = new HashSet<>();
    files.forEach(file -> known.add(file.toAbsolutePath().normalize()));
    Set<Path> folders = new LinkedHashSet<>();
    known.stream().flatMap(file -> Stream.ofNullable(file.getParent())).forEach(folders::add);
    List<Path> found = new ArrayList<>();
    for (Path folder : folders) {
      try (Stream<Path> inside = Files.list(folder)) {
        inside
            .filter(file -> file.toString().endsWith(".jfr") && !known.contains(file))
            .filter(file -> file.toFile().isFile() && file.toFile().length() <= MAX_BESIDE_BYTES)
            .forEach(found::add);
      } catch (IOException | UncheckedIOException e) {
        // No other recordings can be found here.
      }
    }
    List<JobRecording> beside = new ArrayList<>();
    found.stream()
        .sorted(Comparator.comparing((Path file) -> file.toFile().lastModified()).reversed())
        .limit(MAX_BESIDE)
        .forEach(
            file -> {
              try {
                beside.add(RecordingReader.readSteps(file, done -> {}));
              } catch (RecordingException e) {
                // Not every .jfr file is a recording of the agent.
              }
            });
    return beside;
  }

  private ProgressBar bar(Path file) {
    return ProgressBar.of(file, !noProgress, command.commandLine().getErr());
  }

  /** Returns the named recordings, and the recordings in named directories. */
  static List<Path> recordings(List<Path> files) throws RecordingException {
    List<Path> all = new ArrayList<>();
    for (Path file : files) {
      if (!Files.isDirectory(file)) {
        all.add(file);
        continue;
      }
      try (Stream<Path> inside = Files.list(file)) {
        List<Path> found =
            inside.filter(path -> path.toString().endsWith(".jfr")).sorted().toList();
        if (found.isEmpty()) {
          throw new RecordingException(file + " is a directory without recordings (*.jfr).");
        }
        all.addAll(found);
      } catch (IOException e) {
        throw new RecordingException(file + " cannot be read: " + e + ".");
      }
    }
    return all;
  }
}
