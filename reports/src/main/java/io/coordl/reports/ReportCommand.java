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
      "The page needs no network and no other file."
    })
final class ReportCommand implements Callable<Integer> {
  /** More recordings would not be readable side by side. */
  private static final int MAX_RECORDINGS = 6;

  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "FILE.jfr",
      arity = "1..*",
      description =
          "The recordings; the first is the baseline. For a directory or more than six"
              + " recordings, only the six slowest are drawn, slowest first.")
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
        all.size() > 1
            && (all.size() > MAX_RECORDINGS || files.stream().anyMatch(Files::isDirectory));
    List<Path> ordered = slowestFirst ? slowest(all) : all;
    List<JobActivity> activities =
        reading.each(ordered.stream().limit(MAX_RECORDINGS).toList(), reading::readInFull);
    String content =
        ReportPage.html(Report.of(activities, reading.unread, slowestFirst ? ordered.size() : 0));
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
