package io.coordl.reports;

import io.coordl.reports.differential.Differential;
import io.coordl.reports.differential.DifferentialText;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "diff",
    description = {
      "Splits an epoch's time into compute, preparation and fetch, by comparing its times without"
          + " fetch and preparation, without fetch, and with both.",
      "Give one recording of a profile, or three: prepared batches replayed, every item from"
          + " memory, nothing from memory. The three may be profiles of one phase each, in any"
          + " order, or ordinary recordings of at least three epochs, in this order.",
      "The schema of the JSON is differential.schema.json in coordl.jar.",
    })
final class DiffCommand implements Callable<Integer> {
  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "FILE.jfr",
      arity = "1..3",
      description = "One profile, or three recordings: ingestion, cached and cold.")
  List<Path> files;

  @Option(
      names = "--live",
      paramLabel = "FILE.jfr",
      description =
          "An ordinary recording of the same job, whose live attribution is shown for comparison.")
  @Nullable Path live;

  @Mixin JsonOption json;
  @Mixin ReadingOptions reading;

  @Override
  public Integer call() throws RecordingException {
    if (files.size() == 2) {
      throw new ParameterException(
          spec.commandLine(),
          "Two recordings are not enough: give one profile, or ingestion, cached and cold.");
    }
    Optional<JobRecording> ordinary =
        live == null ? Optional.empty() : Optional.of(reading.read(live));
    List<JobRecording> recordings = new ArrayList<>();
    for (Path file : files) {
      recordings.add(reading.read(file));
    }
    print(Differential.of(recordings, ordinary), json);
    return ExitStatus.DONE.code();
  }

  static void print(Differential differential, JsonOption json) throws RecordingException {
    if (differential.timings().isEmpty()) {
      throw new RecordingException(
          ExitStatus.WITHOUT_OUR_EVENTS,
          differential.missing().stream()
              .map(Missing::reason)
              .findFirst()
              .orElse("no phase was measured."));
    }
    json.print(differential, DifferentialText.lines(differential));
  }
}
