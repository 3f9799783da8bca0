package io.coordl.reports;

import io.coordl.reports.comparison.SideBySide;
import io.coordl.reports.comparison.SideBySide.Change;
import io.coordl.reports.comparison.SideBySide.Compared;
import io.coordl.reports.comparison.SideBySideText;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import io.coordl.telemetry.advice.Text;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "compare",
    description = {
      "Shows how much faster a job is than before, whether the difference is significant, what was"
          + " changed, and what had been predicted.",
      "The range covers the variation of the steps after warm-up or, with several runs of each"
          + " side, the variation between runs, which is more reliable.",
      "The schema of the JSON is compare.schema.json in coordl.jar."
    })
final class CompareCommand implements Callable<Integer> {
  /** Ends the options, and separates the two sides. */
  private static final String SEPARATOR = "--";

  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "RECORDING.jfr",
      arity = "1..*",
      description = {
        "The recordings; the first is the baseline.",
        "Or several runs of each side: BEFORE1 BEFORE2 -- AFTER1 AFTER2.",
      })
  List<Path> files;

  @Option(
      names = "--different",
      description =
          "Compare even if runs differ in the program or in the samples per epoch or per batch, if"
              + " only some are profiles, or if the runs of one side are not alike.")
  boolean different;

  @Mixin ReadingOptions reading;
  @Mixin JsonOption json;

  @Override
  public Integer call() throws RecordingException {
    int after = countAfterSeparator();
    boolean pair = files.size() == 2;
    if (files.size() < 2
        || after == files.size()
        || (after == 0 && arguments().contains(SEPARATOR))) {
      throw new ParameterException(
          spec.commandLine(),
          "compare needs at least two recordings: it compares each with the first, or those after"
              + " -- with those before it.");
    }
    SideBySide compared =
        after == 0 || pair ? compareWithFirst() : compareSides(files.size() - after);
    Compared refused = compared.different();
    if (refused != null && !different) {
      List<String> names = compared.runs().stream().map(SideBySideText::name).toList();
      throw new RecordingException(
          ExitStatus.DIFFERENT_JOBS,
          SideBySideText.different(refused, names) + "; --different compares them anyway.");
    }
    json.print(compared, SideBySideText.lines(compared));
    return ExitStatus.DONE.code();
  }

  /** Returns the number of recordings after {@code --}; 0 without {@code --}. */
  private int countAfterSeparator() {
    int at = arguments().indexOf(SEPARATOR);
    return at < 0 ? 0 : arguments().size() - at - 1;
  }

  private List<String> arguments() {
    return spec.commandLine().getParseResult().originalArgs();
  }

  private SideBySide compareWithFirst() throws RecordingException {
    return SideBySide.of(read(files), reading.beside(files), different);
  }

  private SideBySide compareSides(int beforeCount) throws RecordingException {
    List<JobRecording> before = read(checkDistinct(files.subList(0, beforeCount)));
    List<JobRecording> after = read(checkDistinct(files.subList(beforeCount, files.size())));
    if (!different) {
      checkAlike(before);
      checkAlike(after);
    }
    return SideBySide.ofSides(before, after, different);
  }

  /**
   * Returns the side after checking that it names no file twice, because a duplicate would make
   * runs look more alike than they are.
   */
  private List<Path> checkDistinct(List<Path> side) {
    Set<Path> distinct = new HashSet<>();
    for (Path file : side) {
      if (!distinct.add(file.toAbsolutePath().normalize())) {
        throw new ParameterException(
            spec.commandLine(), file + " is named twice on one side: name each run once.");
      }
    }
    return side;
  }

  private List<JobRecording> read(List<Path> paths) throws RecordingException {
    List<JobRecording> recordings = new ArrayList<>();
    for (Path file : paths) {
      recordings.add(reading.readSteps(file));
    }
    return recordings;
  }

  private static void checkAlike(List<JobRecording> side) throws RecordingException {
    JobRecording first = side.get(0);
    for (JobRecording run : side) {
      Map<String, Change> unlike = SideBySide.unlike(first, run);
      if (!unlike.isEmpty()) {
        throw new RecordingException(
            ExitStatus.DIFFERENT_JOBS,
            Text.format(
                "%s differs from %s, but the runs of one side must be alike: %s; --different"
                    + " compares them anyway.",
                run.file(), first.file(), SideBySideText.changes(unlike)));
      }
    }
  }
}
