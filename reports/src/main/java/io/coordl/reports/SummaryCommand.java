package io.coordl.reports;

import io.coordl.reports.comparison.SideBySideText;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.summary.Summary;
import io.coordl.reports.summary.SummaryText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
    name = "summary",
    description = {
      "Summarises one recording in at most 20 lines, or as JSON.",
      "For several recordings, or a directory, prints one line for each, slowest first, or a JSON"
          + " array.",
      "The schema of the JSON is summary.schema.json in coordl.jar."
    })
final class SummaryCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "FILE.jfr",
      arity = "1..*",
      description = "A recording that the agent wrote; or several, or a directory of them.")
  List<Path> files;

  @Mixin ReadingOptions reading;
  @Mixin JsonOption json;

  @Override
  public Integer call() throws RecordingException {
    if (files.size() == 1 && !Files.isDirectory(files.get(0))) {
      Summary summary = Summary.of(reading.read(files.get(0)));
      json.print(summary, SummaryText.lines(summary));
      return ExitStatus.DONE.code();
    }
    List<Summary> summaries =
        reading.each(ReadingOptions.recordings(files), file -> Summary.of(reading.read(file)));
    json.print(summaries, SideBySideText.slowestFirst(summaries));
    return reading.status.code();
  }
}
