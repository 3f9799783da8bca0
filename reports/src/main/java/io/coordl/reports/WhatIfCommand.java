package io.coordl.reports;

import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.whatif.WhatIf;
import io.coordl.reports.whatif.WhatIfJson;
import io.coordl.reports.whatif.WhatIfText;
import io.coordl.reports.whatif.Wishes;
import java.io.PrintWriter;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code coordl whatif FILE.jfr}. */
@Command(
    name = "whatif",
    description = {
      "Predicts what would make a job faster, and by how much, before it is tried.",
      "Best on a profile; of an ordinary recording of three epochs or more it says less, with wider"
          + " errors. Without a question it answers all of them.",
      "The schema of the JSON is whatif.schema.json in coordl.jar.",
    })
final class WhatIfCommand implements Callable<Integer> {
  @Spec CommandSpec spec;

  @Mixin RecordingFile recording;

  @Option(
      names = "--cache",
      paramLabel = "SIZE",
      converter = Amounts.ToSize.class,
      description = "What if a cache had this size: such as 8g, or 35%% of the data set?")
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
      description = "What if a training step were this many times as fast?")
  @Nullable Double gpu;

  @Option(
      names = "--storage",
      paramLabel = "RATE",
      converter = Amounts.ToBytes.class,
      description = "What if the storage gave this many bytes a second, such as 500MB?")
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
          "Bytes a second from one host to another, such as 1.2GB; 1.25GB (10 Gbit/s) if it is"
              + " neither given nor measured.")
  @Nullable Double network;

  @Option(
      names = "--compute-cores",
      paramLabel = "N",
      description =
          "Cores that a training step keeps busy: 0 if it runs on an accelerator. Not a question,"
              + " but what the recording may not show.")
  @Nullable Double computeCores;

  @Mixin JsonOption json;

  @SuppressWarnings("NullAway.Init") // picocli sets the fields before it calls
  WhatIfCommand() {}

  @Override
  public Integer call() throws RecordingException {
    if (computeCores != null && !(computeCores >= 0 && Double.isFinite(computeCores))) {
      throw new ParameterException(
          spec.commandLine(),
          "Invalid value for option '--compute-cores': '" + computeCores + "' is below 0");
    }
    WhatIf whatIf = WhatIf.of(recording.read(), wishes(), questions());
    PrintWriter out = spec.commandLine().getOut();
    if (json.wanted()) {
      out.println(WhatIfJson.of(whatIf));
    } else {
      WhatIfText.lines(whatIf).forEach(out::println);
    }
    return ExitStatus.DONE.code();
  }

  private Wishes wishes() {
    return new Wishes(
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

  /** Those that the options ask; none if they ask nothing in particular. */
  private Set<String> questions() {
    Set<String> questions = new LinkedHashSet<>();
    boolean together = hosts != null || network != null;
    if (cache != null && !together && storage == null) {
      questions.addAll(Set.of("cacheSize", "minio", "decoded"));
    }
    if (cores != null) {
      questions.add("cores");
    }
    if (gpu != null) {
      questions.add("gpu");
    }
    if (storage != null) {
      questions.add("storage");
    }
    if (jobs != null) {
      questions.add("jobs");
    }
    if (together) {
      questions.addAll(Set.of("hosts", "locality"));
    }
    return questions;
  }
}
