package io.coordl.reports;

import io.coordl.reports.cluster.Allocation;
import io.coordl.reports.cluster.Cluster;
import io.coordl.reports.cluster.InputException;
import io.coordl.reports.cluster.ModelTable;
import io.coordl.reports.cluster.Policy;
import io.coordl.reports.cluster.Simulation;
import io.coordl.reports.cluster.SimulationRun;
import io.coordl.reports.cluster.SimulationText;
import io.coordl.reports.cluster.Trace;
import io.coordl.reports.cluster.TraceJob;
import io.coordl.reports.cluster.Workload;
import io.coordl.reports.page.ReportPage;
import io.coordl.reports.page.SimulationReport;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.RecordingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "simulate",
    description = {
      "Predicts how long jobs take on a shared cluster, by scheduling policy and by allocation of"
          + " cores, memory and storage.",
      "The jobs come from a trace (--jobs) or from a generated workload (--load).",
      "The schema of the JSON is simulate.schema.json in coordl.jar.",
    })
final class SimulateCommand implements Callable<Integer> {
  private static final double DEFAULT_ROUND_SECONDS = 300;
  private static final double DEFAULT_RESTART_SECONDS = 30;
  private static final Pattern IDS = Pattern.compile("(\\d{1,9})-(\\d{1,9})");
  private static final Simulation.Measured WHOLE_TRACE =
      new Simulation.Measured(0, Long.MAX_VALUE - 1);

  /** Several runs, for the JSON. */
  private record Runs(List<SimulationRun> runs) {}

  @Option(
      names = "--jobs",
      paramLabel = "FILE.csv",
      description = "A trace: a line 'job,model,arrival_s,iterations,gpus', then one job a line.")
  @Nullable Path jobs;

  @Option(
      names = "--load",
      paramLabel = "JOBS",
      split = ",",
      converter = Amounts.ToFactor.class,
      description =
          "Generate workloads with this many jobs an hour; the jobs take as long as on Microsoft's"
              + " Philly clusters.")
  @Nullable List<Double> load;

  @Option(
      names = "--models",
      paramLabel = "FILE.json",
      split = ",",
      required = true,
      description = "How fast models train: tables of models, or output of coordl demand --json.")
  List<Path> models;

  @Option(
      names = "--cluster",
      paramLabel = "SERVERSxGPUS[,...]",
      required = true,
      description =
          "The servers, each with cores=N, memory=GIB, storage=MBS and network=GBITS, such as"
              + " 4x8,cores=24,memory=500,storage=500.")
  String cluster;

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      split = ",",
      defaultValue = "fifo",
      description = "One or more of ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  List<Policy> policies;

  @Option(
      names = "--allocation",
      paramLabel = "ALLOCATION",
      split = ",",
      defaultValue = "tune",
      description = "One or more of ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  List<Allocation> allocations;

  @Option(
      names = "--released",
      description = "Reproduce the simulator published with Synergy, including its bugs.")
  boolean released;

  @Option(
      names = "--all-at-start",
      description = "Start the first round at 1 s, for traces whose jobs have all arrived by then.")
  boolean allAtStart;

  @Option(
      names = "--split",
      paramLabel = "TASK=PERCENT",
      defaultValue = "image=20,language=70,speech=10",
      description = "Tasks of the workload's jobs (default: ${DEFAULT-VALUE}).")
  String split;

  @Option(
      names = "--multi-gpu",
      description =
          "Generate three in ten jobs with 2, 4 or 8 GPUs; without this option, all jobs need one.")
  boolean multiGpu;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      converter = Amounts.ToCount.class,
      defaultValue = "1",
      description =
          "Simulate N workloads, with seeds 1 to N. Two or more give means with a confidence"
              + " interval.")
  int seeds;

  @Option(
      names = "--measure",
      paramLabel = "FROM-TO",
      description =
          "Ids of the jobs to report on; the run ends when they are done (default: 4000-4999 for a"
              + " workload, all jobs of a trace).")
  @Nullable String measure;

  @Option(
      names = "--round",
      paramLabel = "SECONDS",
      converter = Amounts.ToFactor.class,
      description = "Length of a scheduling round (default: 300).")
  @Nullable Double round;

  @Option(
      names = "--restart",
      paramLabel = "SECONDS",
      converter = Amounts.ToCores.class,
      description =
          "Time that a job loses when it moves or restarts (default: 30, or a tenth of a round if"
              + " that is less).")
  @Nullable Double restart;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE.html",
      description = "Also draw the runs on an HTML page, which needs no network.")
  @Nullable Path output;

  @Option(names = "--force", description = "Overwrite an existing file.")
  boolean force;

  @Mixin JsonOption json;

  @Override
  public Integer call() throws InputException, RecordingException {
    OutputFile page = output == null ? null : OutputFile.of(output, force);
    List<SimulationRun> runs = new ArrayList<>();
    List<String> text = new ArrayList<>();
    for (Simulation simulation : simulations()) {
      List<SimulationRun> some = simulation.run(policies, allocations);
      runs.addAll(some);
      text.addAll(SimulationText.lines(simulation, some));
    }
    if (page != null) {
      String content = ReportPage.html(SimulationReport.of(text.get(0), runs));
      page.write(to -> to.write(content));
    }
    json.print(runs.size() == 1 ? runs.get(0) : new Runs(runs), text);
    return ExitStatus.DONE.code();
  }

  /** Returns one simulation per load, or the only one of the trace. */
  private List<Simulation> simulations() throws InputException {
    if ((jobs == null) == (load == null)) {
      throw new InputException("simulate needs either --jobs FILE.csv or --load JOBS");
    }
    if (released && jobs == null) {
      throw new InputException("--released simulates traces only: pass --jobs FILE.csv");
    }
    if (allAtStart && jobs == null) {
      throw new InputException("--all-at-start is for traces only: pass --jobs FILE.csv");
    }
    if (released && (measure != null || round != null || restart != null)) {
      throw new InputException("--released accepts neither --measure nor --round nor --restart");
    }
    if (released && allocations.contains(Allocation.OPT)) {
      throw new InputException(
          "--released has no opt: its solver's choice between equal optima cannot be reproduced");
    }
    double roundSeconds = round == null ? DEFAULT_ROUND_SECONDS : round;
    double restartSeconds =
        restart == null ? Math.min(DEFAULT_RESTART_SECONDS, roundSeconds / 10) : restart;
    if (restartSeconds >= roundSeconds) {
      throw new InputException(
          "a restart of " + restart + " s is not shorter than a round of " + roundSeconds + " s");
    }
    Cluster servers = Cluster.parse(cluster);
    ModelTable table = ModelTable.read(models);
    if (released && table.hasRecorded()) {
      throw new InputException("--released takes no recorded jobs: pass tables of models only");
    }
    List<TraceJob> trace = jobs == null ? null : Trace.read(jobs, table, servers);
    Simulation.Measured ids = measured();
    if (trace != null
        && trace.stream().noneMatch(job -> job.id() >= ids.from() && job.id() <= ids.to())) {
      throw new InputException("--measure " + measure + ": the trace has no such job");
    }
    Map<String, Double> tasks = load == null ? Map.of() : Workload.parseSplit(split);
    List<@Nullable Workload> workloads = new ArrayList<>();
    if (load == null) {
      workloads.add(null);
    } else {
      load.forEach(jobsPerHour -> workloads.add(new Workload(jobsPerHour, tasks, multiGpu)));
    }
    List<Simulation> simulations = new ArrayList<>();
    for (Workload workload : workloads) {
      simulations.add(
          new Simulation(
              servers,
              table,
              trace,
              workload,
              workload == null ? List.of() : LongStream.rangeClosed(1, seeds).boxed().toList(),
              roundSeconds,
              restartSeconds,
              allAtStart,
              released,
              ids));
    }
    return simulations;
  }

  private Simulation.Measured measured() throws InputException {
    if (measure == null) {
      return load == null ? WHOLE_TRACE : new Simulation.Measured(4000, 4999);
    }
    Matcher ids = IDS.matcher(measure.strip());
    if (ids.matches()) {
      long from = Long.parseLong(ids.group(1));
      long to = Long.parseLong(ids.group(2));
      if (from <= to) {
        return new Simulation.Measured(from, to);
      }
    }
    throw new InputException("--measure " + measure + " is not a range of ids such as 4000-4999");
  }
}
