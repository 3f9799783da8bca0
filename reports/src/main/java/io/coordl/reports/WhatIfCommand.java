package io.coordl.reports;

import io.coordl.reports.cluster.InputException;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.whatif.Scenario;
import io.coordl.reports.whatif.WhatIf;
import io.coordl.reports.whatif.WhatIfText;
import io.coordl.reports.workers.WorkersFile;
import io.coordl.reports.workers.WorkersReport;
import io.coordl.reports.workers.WorkersText;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "whatif",
    description = {
      "Predicts what would make a job faster, and by how much, before you try it.",
      "Works best with a profile; an ordinary recording gives fewer answers, with larger errors."
          + " Without a question, all are answered.",
      "With --workers it predicts the cost of unequal workers and the best placement of layers on"
          + " parameter servers.",
      "The schemas of the JSON are whatif.schema.json and workers.schema.json in coordl.jar.",
    })
final class WhatIfCommand implements Callable<Integer> {
  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "FILE.jfr",
      arity = "0..1",
      description = "The recording that the agent wrote; optional with --workers.")
  @Nullable Path file;

  @Mixin ReadingOptions reading;

  @Option(
      names = "--cache",
      paramLabel = "SIZE",
      converter = Amounts.ToSize.class,
      description = "What if a cache had this size, such as 8g or 35%% of the data set?")
  Amounts.@Nullable Size cache;

  @Option(
      names = "--cores",
      paramLabel = "N",
      converter = Amounts.ToCount.class,
      description = "What if the host had this many cores?")
  @Nullable Integer cores;

  @Option(
      names = "--gpu",
      paramLabel = "FACTOR",
      converter = Amounts.ToFactor.class,
      description = "What if training steps were faster by this factor?")
  @Nullable Double gpu;

  @Option(
      names = "--storage",
      paramLabel = "RATE",
      converter = Amounts.ToBytes.class,
      description = "What if the storage delivered this many bytes a second, such as 500MB?")
  @Nullable Double storage;

  @Option(
      names = "--jobs",
      paramLabel = "J",
      converter = Amounts.ToCount.class,
      description = "What if this many jobs like this one ran on the host?")
  @Nullable Integer jobs;

  @Option(
      names = "--hosts",
      paramLabel = "N",
      converter = Amounts.ToCount.class,
      description = "What if this many hosts trained together?")
  @Nullable Integer hosts;

  @Option(
      names = "--network",
      paramLabel = "RATE",
      converter = Amounts.ToBytes.class,
      description =
          "Bytes a second between two hosts, such as 1.2GB (default: as measured, or 1.25GB, which"
              + " is 10 Gbit/s).")
  @Nullable Double network;

  @Option(
      names = "--compute-cores",
      paramLabel = "N",
      converter = Amounts.ToCores.class,
      description =
          "Cores that a training step keeps busy, if not known from the recording; 0 if the step"
              + " runs on an accelerator.")
  @Nullable Double computeCores;

  @Option(
      names = "--workers",
      paramLabel = "FILE",
      description =
          "Predict training on the workers in this file: unequal workers, virtual workers of"
              + " several GPUs, parameter servers. Cannot be combined with other questions.")
  @Nullable Path workers;

  @Mixin JsonOption json;

  @Override
  public Integer call() throws RecordingException, InputException {
    Set<String> questions = questions();
    Path described = workers;
    if (described != null) {
      if (!questions.isEmpty()) {
        throw new ParameterException(
            spec.commandLine(),
            "--workers cannot be combined with other questions: leave them out.");
      }
      WorkersReport report =
          WorkersReport.of(WorkersFile.read(described), file, path -> reading.read(path));
      json.print(report, WorkersText.lines(report));
      return ExitStatus.DONE.code();
    }
    Path recording = file;
    if (recording == null) {
      throw new ParameterException(
          spec.commandLine(), "Missing required parameter: 'FILE.jfr', or --workers FILE.");
    }
    WhatIf whatIf = WhatIf.of(reading.readSteps(recording), scenario(), questions);
    int width = json.terminal().width();
    json.print(whatIf, WhatIfText.lines(whatIf, width == 0 ? WhatIfText.WIDTH : width));
    return ExitStatus.DONE.code();
  }

  private Scenario scenario() {
    return new Scenario(
        cache == null || cache.bytes() == 0 ? null : (Double) cache.bytes(),
        cache == null || cache.share() == 0 ? null : (Double) cache.share(),
        cores,
        gpu,
        storage,
        jobs,
        hosts,
        network,
        computeCores);
  }

  /** Returns the names of the questions that the options select; empty if they select none. */
  private Set<String> questions() {
    boolean aboutHosts = hosts != null || network != null;
    boolean aboutCache = cache != null && !aboutHosts && storage == null;
    Map<String, Boolean> selected =
        Map.of(
            "cacheSize", aboutCache,
            "minio", aboutCache,
            "decoded", aboutCache,
            "auto", aboutCache,
            "cores", cores != null,
            "gpu", gpu != null,
            "storage", storage != null,
            "jobs", jobs != null,
            "hosts", aboutHosts,
            "locality", aboutHosts);
    return selected.entrySet().stream()
        .filter(Map.Entry::getValue)
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }
}
