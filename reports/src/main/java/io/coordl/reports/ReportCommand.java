package io.coordl.reports;

import io.coordl.reports.comparison.SideBySideText;
import io.coordl.reports.page.Report;
import io.coordl.reports.page.ReportPage;
import io.coordl.reports.recording.JobActivity;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.summary.Summary;
import io.coordl.telemetry.advice.Text;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "report",
    description = {
      "Draws one recording, or compares several, on one HTML page.",
      "The page needs no network and nothing beside it."
    })
final class ReportCommand implements Callable<Integer> {
  /** More recordings side by side are unreadable. */
  private static final int MOST = 6;

  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "FILE.jfr",
      arity = "1..*",
      description =
          "The recording; of several the first is what others are compared with. Or a directory of"
              + " them: the slowest come first, and of more than six the slowest six are drawn.")
  List<Path> files;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE.html",
      description = "The page to write (default: beside the first recording, with its name).")
  @Nullable Path output;

  @Option(names = "--force", description = "Overwrite an existing file.")
  boolean force;

  @Mixin ReadingOptions reading;

  @Override
  public Integer call() throws RecordingException {
    List<Path> all = ReadingOptions.recordings(files);
    OutputFile page = OutputFile.of(output, all, ".html", force);
    boolean slowestFirst =
        all.size() > 1 && (all.size() > MOST || files.stream().anyMatch(Files::isDirectory));
    List<Path> chosen = slowestFirst ? slowest(all) : all;
    List<JobActivity> read =
        reading.each(chosen.stream().limit(MOST).toList(), reading::readInFull);
    String content =
        ReportPage.html(Report.of(read, reading.unread, slowestFirst ? chosen.size() : 0));
    page.write(to -> to.write(content));
    spec.commandLine().getOut().println(Text.line(page.path().toString(), Integer.MAX_VALUE));
    return reading.status.code();
  }

  private List<Path> slowest(List<Path> all) throws RecordingException {
    return reading.each(all, file -> Summary.of(reading.read(file))).stream()
        .sorted(SideBySideText.SLOWEST_FIRST)
        .map(summary -> Path.of(summary.recording().file()))
        .toList();
  }
}
