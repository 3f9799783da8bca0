package io.coordl.reports;

import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.summary.Summary;
import io.coordl.reports.summary.SummaryText;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code coordl summary FILE.jfr}. */
@Command(
    name = "summary",
    description = {
      "Sums up one recording in at most 20 lines, or as JSON.",
      "The schema of the JSON is summary.schema.json in coordl.jar."
    })
@SuppressWarnings("NullAway.Init") // picocli sets the fields before it calls
final class SummaryCommand implements Callable<Integer> {
  @Parameters(paramLabel = "FILE.jfr", description = "The recording that the agent wrote.")
  Path file;

  @Mixin ReadingOptions reading;
  @Mixin JsonOption json;

  @Override
  public Integer call() throws RecordingException {
    Summary summary = Summary.of(reading.read(file));
    json.print(summary, SummaryText.lines(summary));
    return ExitStatus.DONE.code();
  }
}
