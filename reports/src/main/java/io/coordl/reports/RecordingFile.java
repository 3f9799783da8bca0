package io.coordl.reports;

import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import java.nio.file.Path;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The one recording that a command is about: add it with {@code @Mixin}. */
final class RecordingFile {
  @Parameters(paramLabel = "FILE.jfr", description = "The recording that the agent wrote.")
  private Path file;

  @Mixin private ReadingOptions reading;

  @SuppressWarnings("NullAway.Init") // picocli sets the fields before it calls
  RecordingFile() {}

  Path file() {
    return file;
  }

  JobRecording read() throws RecordingException {
    return reading.read(file);
  }
}
