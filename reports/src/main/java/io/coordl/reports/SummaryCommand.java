package io.coordl.reports;

import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.reports.summary.Summary;
import io.coordl.reports.summary.SummaryJson;
import io.coordl.reports.summary.SummaryText;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code coordl summary FILE.jfr}. */
@Command(
    name = "summary",
    description = "Sums up one recording in at most 20 lines, or as JSON.",
    mixinStandardHelpOptions = true,
    versionProvider = Coordl.Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      " 0:the summary was printed",
      " 1:the recording cannot be read",
      " 2:the command line is wrong",
    })
final class SummaryCommand implements Callable<Integer> {
  @Spec CommandSpec spec;

  @Parameters(paramLabel = "FILE.jfr", description = "The recording that the agent wrote.")
  Path file;

  @Option(
      names = "--json",
      description =
          "Print JSON: times in nanoseconds, sizes in bytes; its schema is summary.schema.json in"
              + " coordl.jar.")
  boolean json;

  @Option(
      names = "--no-progress",
      description = "Draw no progress bar. There is one for large files if stderr is a terminal.")
  boolean noProgress;

  @SuppressWarnings("NullAway.Init") // picocli sets the fields before it calls
  SummaryCommand() {}

  @Override
  public Integer call() throws RecordingException {
    Summary summary = Summary.of(read());
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(SummaryJson.of(summary));
    } else {
      SummaryText.lines(summary).forEach(out::println);
    }
    return ExitCode.OK;
  }

  private JobRecording read() throws RecordingException {
    try (ProgressBar bar = ProgressBar.of(file, !noProgress, spec.commandLine().getErr())) {
      return RecordingReader.read(file, bar);
    }
  }
}
