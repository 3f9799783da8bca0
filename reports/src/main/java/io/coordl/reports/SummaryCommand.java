package io.coordl.reports;

import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.summary.Summary;
import io.coordl.reports.summary.SummaryJson;
import io.coordl.reports.summary.SummaryText;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code coordl summary FILE.jfr}. */
@Command(
    name = "summary",
    description = {
      "Sums up one recording in at most 20 lines, or as JSON.",
      "The schema of the JSON is summary.schema.json in coordl.jar."
    })
final class SummaryCommand implements Callable<Integer> {
  @Spec CommandSpec spec;
  @Mixin RecordingFile recording;
  @Mixin JsonOption json;

  @SuppressWarnings("NullAway.Init") // picocli sets the fields before it calls
  SummaryCommand() {}

  @Override
  public Integer call() throws RecordingException {
    Summary summary = Summary.of(recording.read());
    PrintWriter out = spec.commandLine().getOut();
    if (json.wanted()) {
      out.println(SummaryJson.of(summary));
    } else {
      SummaryText.lines(summary).forEach(out::println);
    }
    return ExitStatus.DONE.code();
  }
}
