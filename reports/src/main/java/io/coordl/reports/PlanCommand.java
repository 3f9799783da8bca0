package io.coordl.reports;

import io.coordl.reports.cluster.Allocation;
import io.coordl.reports.cluster.InputException;
import io.coordl.reports.cluster.ModelTable;
import io.coordl.reports.demand.Demand;
import io.coordl.reports.plan.Form;
import io.coordl.reports.plan.Manifests;
import io.coordl.reports.plan.Plan;
import io.coordl.reports.plan.PlanText;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "plan",
    description = {
      "Plans which jobs run on which servers of a cluster, with how many cores, how much memory and"
          + " what storage rate.",
      "Compares three allocations with a bound: the optimum of a linear program that treats the"
          + " cluster as one server.",
      "The schema of the JSON is plan.schema.json in coordl.jar.",
    })
final class PlanCommand implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "CLUSTER.yaml", description = "The servers and their GPUs.")
  Path cluster;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "JOB",
      description = {
        "FILE[#MODEL][,gpus=N][,count=N][,name=NAME][,gpu=TYPE][,memory=SIZE][,container=NAME]."
            + " List the most important job first.",
        "FILE is a recording, the output of coordl demand --json, or a table of models. memory= is"
            + " the memory that the job needs besides its cache.",
      })
  List<String> jobs;

  @Option(
      names = "--allocation",
      paramLabel = "ALLOCATION",
      defaultValue = "tune",
      description =
          "The plan's allocation: proportional, greedy or tune (default: ${DEFAULT-VALUE}).")
  Allocation allocation;

  @Option(
      names = "--as",
      paramLabel = "FORM",
      defaultValue = "job",
      description =
          "What --output writes: one of ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  Form form;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIRECTORY",
      description = "Write the plan as Kubernetes job patches or Slurm options.")
  @Nullable Path output;

  @Option(names = "--force", description = "Overwrite existing files.")
  boolean force;

  @Mixin ReadingOptions reading;

  @Mixin JsonOption json;

  @Override
  public Integer call() throws InputException, RecordingException {
    if (allocation == Allocation.OPT) {
      throw new InputException(
          "--allocation opt is a bound and places no job: proportional, greedy or tune was"
              + " expected");
    }
    Plan plan = Plan.of(cluster, jobs, allocation, this::table);
    if (output != null) {
      write(output, Manifests.of(plan, form));
    }
    json.print(plan, PlanText.lines(plan));
    return ExitStatus.DONE.code();
  }

  private ModelTable table(Path file) throws RecordingException, InputException {
    return Demand.of(List.of(reading.read(file)), null, false).models(file);
  }

  /** Checks all files before it writes the first. */
  private void write(Path directory, Map<String, String> contents) throws RecordingException {
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new RecordingException(
          ExitStatus.UNWRITABLE,
          directory + " cannot be created, or is not a directory: name another with --output.");
    }
    List<OutputFile> files = new ArrayList<>();
    for (String name : contents.keySet()) {
      files.add(OutputFile.of(directory.resolve(name), force));
    }
    int i = 0;
    for (String content : contents.values()) {
      files.get(i++).write(to -> to.write(content));
    }
  }
}
