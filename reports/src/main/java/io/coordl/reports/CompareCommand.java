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
      "The range is that of the steps after warm-up; of several runs a side, that of the runs,"
          + " which is the one to trust.",
      "The schema of the JSON is compare.schema.json in coordl.jar."
    })
final class CompareCommand implements Callable<Integer> {
  /** Ends the options, and separates the two sides. */
  private static final String SIDES = "--";

  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "RECORDING.jfr",
      arity = "1..*",
      description = {
        "The recordings: each other one is compared with the first.",
        "Or several runs of each side: BEFORE1 BEFORE2 -- AFTER1 AFTER2.",
      })
  List<Path> files;

  @Option(
      names = "--different",
      description =
          "Compare even if the program, samples an epoch or samples a batch differ, or the runs"
              + " of one side.")
  boolean different;

  @Mixin ReadingOptions reading;
  @Mixin JsonOption json;

  @Override
  public Integer call() throws RecordingException {
    int after = afterSides();
    boolean pair = files.size() == 2;
    if (files.size() < 2 || after == files.size() || (after == 0 && named().contains(SIDES))) {
      throw new ParameterException(
          spec.commandLine(),
          "compare needs two recordings or more: each is compared with the first, or those after"
              + " -- with those before it.");
    }
    SideBySide compared = after == 0 || pair ? withTheFirst() : sides(files.size() - after);
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

  /** The number of recordings after {@code --}; 0 if there is none. */
  private int afterSides() {
    int at = named().indexOf(SIDES);
    return at < 0 ? 0 : named().size() - at - 1;
  }

  private List<String> named() {
    return spec.commandLine().getParseResult().originalArgs();
  }

  private SideBySide withTheFirst() throws RecordingException {
    return SideBySide.of(read(files), reading.beside(files), different);
  }

  private SideBySide sides(int first) throws RecordingException {
    List<JobRecording> before = read(side(files.subList(0, first)));
    List<JobRecording> after = read(side(files.subList(first, files.size())));
    if (!different) {
      checkAlike(before);
      checkAlike(after);
    }
    return SideBySide.ofSides(before, after, different);
  }

  /** A run that counted twice would make runs look alike. */
  private List<Path> side(List<Path> of) {
    Set<Path> seen = new HashSet<>();
    for (Path file : of) {
      if (!seen.add(file.toAbsolutePath().normalize())) {
        throw new ParameterException(
            spec.commandLine(), file + " is named twice on one side: each run counts once.");
      }
    }
    return of;
  }

  private List<JobRecording> read(List<Path> of) throws RecordingException {
    List<JobRecording> recordings = new ArrayList<>();
    for (Path file : of) {
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
                "%s is not like %s, and the runs of one side must be alike: %s; --different"
                    + " compares them anyway.",
                run.file(), first.file(), SideBySideText.changes(unlike)));
      }
    }
  }
}
