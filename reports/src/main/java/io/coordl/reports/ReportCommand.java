package io.coordl.reports;

import io.coordl.advice.Text;
import io.coordl.reports.page.Report;
import io.coordl.reports.page.ReportPage;
import io.coordl.reports.recording.JobActivity;
import io.coordl.reports.recording.RecordingException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code coordl report FILE.jfr... -o report.html}. */
@Command(
    name = "report",
    description = {
      "Draws one recording, or compares several, on one HTML page.",
      "The page needs no network and nothing beside it."
    })
@SuppressWarnings("NullAway.Init") // picocli sets the fields before it calls
final class ReportCommand implements Callable<Integer> {
  /** More side by side cannot be read. */
  private static final int MOST = 6;

  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "FILE.jfr",
      arity = "1..*",
      description =
          "The recording; of several, up to six, the first is what others are compared with."
              + " Or a directory of them.")
  List<Path> files;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE.html",
      description = "The page to write (default: beside the first recording, with its name).")
  @Nullable Path output;

  @Option(names = "--force", description = "Write the page even if there is such a file already.")
  boolean force;

  @Mixin ReadingOptions reading;

  @Override
  public Integer call() throws RecordingException, OutputException {
    List<Path> all = ReadingOptions.recordings(files);
    if (all.size() > MOST) {
      throw new ParameterException(
          spec.commandLine(),
          Text.format(
              "at most %s recordings can be compared, and there are %s: coordl summary shows which"
                  + " are the slowest.",
              MOST, all.size()));
    }
    OutputFile page = OutputFile.of(output, all, ".html", force);
    ReadingOptions.Read<JobActivity> read = reading.each(all, reading::readInFull);
    String content = ReportPage.html(Report.of(read.recordings(), read.unread()));
    page.write(to -> to.write(content));
    spec.commandLine().getOut().println(Text.line(page.path().toString(), Integer.MAX_VALUE));
    return read.status().code();
  }
}
