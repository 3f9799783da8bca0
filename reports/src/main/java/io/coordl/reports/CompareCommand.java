package io.coordl.reports;

import io.coordl.reports.comparison.SideBySide;
import io.coordl.reports.comparison.SideBySideText;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
    name = "compare",
    description = {
      "Shows how much faster a job is than before, whether the difference is significant, what was"
          + " changed, and what had been predicted.",
      "The schema of the JSON is compare.schema.json in coordl.jar."
    })
final class CompareCommand implements Callable<Integer> {
  @Parameters(
      index = "0",
      paramLabel = "BEFORE.jfr",
      description = "The recording with which the others are compared.")
  Path before;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "AFTER.jfr",
      description = "Recordings of the same job with other arguments.")
  List<Path> after;

  @Mixin ReadingOptions reading;
  @Mixin JsonOption json;

  @Override
  public Integer call() throws RecordingException {
    List<JobRecording> recordings = new ArrayList<>();
    recordings.add(reading.read(before));
    for (Path file : after) {
      recordings.add(reading.read(file));
    }
    SideBySide compared = SideBySide.of(recordings);
    json.print(compared, SideBySideText.lines(compared));
    return ExitStatus.DONE.code();
  }
}
