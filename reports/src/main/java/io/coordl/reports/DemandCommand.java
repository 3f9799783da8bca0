package io.coordl.reports;

import io.coordl.reports.demand.Demand;
import io.coordl.reports.demand.DemandText;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "demand",
    description = {
      "Shows a job's speed by cores, cache memory and storage rate, and the smallest amounts that"
          + " reach nearly full speed.",
      "Works best with profiles on different numbers of cores (coordl profile --fewer-cores). An"
          + " ordinary recording of at least three epochs shows less; the output names what is"
          + " missing.",
      "coordl simulate and coordl plan read the JSON; its schema is demand.schema.json in"
          + " coordl.jar.",
    })
final class DemandCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "FILE.jfr",
      arity = "1..*",
      description =
          "One recording, or profiles of one program, each on a different number of cores.")
  List<Path> files;

  @Option(
      names = "--compute-cores",
      paramLabel = "N",
      converter = Amounts.ToCores.class,
      description =
          "Cores that a training step keeps busy, if you know better than the recordings; 0 if the"
              + " step runs on an accelerator.")
  @Nullable Double computeCores;

  @Option(
      names = "--quota",
      description =
          "Treat numbers of cores as quotas on a host with more cores, as in a container; otherwise"
              + " whole numbers mean sets of CPUs.")
  boolean quota;

  @Mixin ReadingOptions reading;

  @Mixin JsonOption json;

  @Override
  public Integer call() throws RecordingException {
    List<JobRecording> recordings = new ArrayList<>();
    for (Path file : files) {
      recordings.add(reading.read(file));
    }
    Demand demand = Demand.of(recordings, computeCores, quota);
    json.print(demand, DemandText.lines(demand));
    return ExitStatus.DONE.code();
  }
}
