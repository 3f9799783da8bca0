package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Tests whether {@code auto} finds the best settings. Runs ordinary training programs of both
 * libraries without the agent, observed, with settings that a person would try, and with {@code
 * auto}. Measures samples/s from the third epoch on (from the second in programs of four epochs)
 * and the CPU time of the whole process. The first round runs every setting. Later rounds run only
 * {@code auto} and the settings within 25 % of the first round's best; where nothing helps, also
 * observing alone. All figures are medians over the later rounds, because the best of many single
 * runs is partly luck; settings that only the first round runs keep the figures of that round.
 * Ratios compare runs of the same round.
 *
 * <p>Arguments: rounds (3), epochs (0: each program's default), percent of the samples (100), a
 * part of the programs' names, or {@code all}; {@code default-threads} to leave {@code
 * OMP_NUM_THREADS} unset, or {@code one-thread}; the jar of another version of the agent, to
 * compare its {@code auto}. Exits with 1 if a loss differs or a bar is missed; with default
 * threads, losses may differ in their last bits, so differing runs are only counted.
 */
public final class AutoBenchmark {
  /** Share of the best speed found by hand that auto must reach. */
  private static final double BEST_BAR = 0.95;

  /** Share by which auto may be slower or use more CPU than observing, where nothing helps. */
  private static final double COST_BAR = 0.01;

  /** Settings at least this fast, relative to the best, run in later rounds, too. */
  private static final double CANDIDATE = 0.75;

  private static final String NO_AGENT = "no agent";
  private static final String OFF = "off";
  private static final String AUTO = "auto";
  private static final String OTHER = "auto of the other version";
  private static final String SHARE = "decoded=share";
  private static final String KEPT = "prepared=share";
  private static final String AHEAD = "prefetch=1";

  /** Epochs of a user's first try with {@code auto}; its rate counts from the second epoch on. */
  private static final int FIRST_TRY = 4;

  private static final List<Program> PROGRAMS =
      List.of(
          new Program(Example.DJL, "images", "pictures", 900, 12)
              .settings(AHEAD, SHARE, SHARE + "," + AHEAD, SHARE + ",prefetch=2"),
          new Program(Example.DJL, "csv", "table", 3000, 14)
              .settings(AHEAD, KEPT, KEPT + "," + AHEAD),
          new Program(Example.DJL, "text", "sentences", 3000, 12)
              .settings(AHEAD, KEPT, KEPT + "," + AHEAD),
          new Program(Example.DJL, "waves", "waves", 2400, 10)
              .settings(AHEAD, KEPT, KEPT + "," + AHEAD),
          new Program(Example.DJL, "compute", "", 400, 8).settings(AHEAD).nothingHelps(),
          new Program(Example.DL4J, "images", "pictures", 600, 12)
              .settings(SHARE, SHARE + "," + AHEAD, SHARE + ",prefetch=2"),
          new Program(Example.DL4J, "csv", "table", 1500, 10).settings(KEPT),
          new Program(Example.DL4J, "sequences", "frames", 1500, 10).settings(KEPT),
          new Program(Example.DL4J, "words", "words", 4000, 10).settings(KEPT),
          new Program(Example.DL4J, "waves", "waves", 2400, 8).settings(KEPT, "cache=minio"),
          new Program(Example.DL4J, "compute", "", 150, 8).settings(KEPT).nothingHelps(),
          new Program(Example.DJL, "records", "words", 3000, FIRST_TRY)
              .settings(KEPT, KEPT + "," + AHEAD),
          new Program(Example.DJL, "series", "", 3000, FIRST_TRY)
              .settings(KEPT, KEPT + "," + AHEAD),
          new Program(Example.DJL, "lambda", "waves", 2400, FIRST_TRY)
              .settings(AHEAD, KEPT, KEPT + "," + AHEAD),
          new Program(Example.DJL, "loader", "waves", 2400, FIRST_TRY)
              .settings(AHEAD, KEPT, KEPT + "," + AHEAD),
          new Program(Example.DJL, "still", "pictures", 900, FIRST_TRY)
              .settings(AHEAD, KEPT, SHARE, KEPT + "," + AHEAD),
          new Program(Example.DL4J, "loader", "pictures", 600, FIRST_TRY)
              .settings(KEPT, SHARE, SHARE + "," + AHEAD));

  /**
   * A training program.
   *
   * @param kind kind of its data; empty if it generates them
   * @param samples enough for auto to finish its trials by about the third epoch
   * @param settings settings to try by hand
   * @param isHelped whether one of the settings should make the program faster
   */
  private record Program(
      Example library,
      String name,
      String kind,
      int samples,
      int epochs,
      List<String> settings,
      boolean isHelped) {
    Program(Example library, String name, String kind, int samples, int epochs) {
      this(library, name, kind, samples, epochs, List.of(), true);
    }

    Program settings(String... tried) {
      return new Program(library, name, kind, samples, epochs, List.of(tried), isHelped);
    }

    Program nothingHelps() {
      return new Program(library, name, kind, samples, epochs, settings, false);
    }

    /** Returns the first epoch that counts; in it, {@code auto} can already use cached data. */
    int firstScored() {
      return epochs == FIRST_TRY ? 2 : 3;
    }

    TrainingProgram program() {
      return new TrainingProgram(library, name, kind);
    }

    @Override
    public String toString() {
      return program().toString();
    }
  }

  /** A program that trains, and the number of its samples. */
  record Training(TrainingProgram program, int samples) {}

  /** Returns the programs that train; the others only load batches. */
  static List<Training> training() {
    return PROGRAMS.stream()
        .filter(program -> !program.name.equals("loader"))
        .map(program -> new Training(program.program(), program.samples))
        .toList();
  }

  /** One run: samples/s, and CPU seconds of the process. */
  private record Run(int round, String setting, double rate, double cpu) {}

  private interface Figure {
    double of(Run run);
  }

  /** The runs of one program. */
  private record Runs(List<Run> runs) {
    /** Returns the fastest setting except auto and no agent; may be observing alone. */
    String best() {
      return byHand()
          .filter(setting -> inRound(2, setting).findAny().isPresent() || !hasLaterRounds())
          .max(Comparator.comparingDouble(this::rate))
          .orElseThrow();
    }

    /** Returns the settings that were nearly the fastest in the first round. */
    List<String> candidates() {
      double most = byHand().mapToDouble(setting -> firstRate(setting)).max().orElseThrow();
      return byHand().filter(setting -> firstRate(setting) >= CANDIDATE * most).toList();
    }

    private Stream<String> byHand() {
      return runs.stream()
          .filter(run -> run.round == 1)
          .map(Run::setting)
          .filter(setting -> !List.of(AUTO, OTHER, NO_AGENT).contains(setting));
    }

    private double firstRate(String setting) {
      return inRound(1, setting).findFirst().orElseThrow().rate;
    }

    private boolean hasLaterRounds() {
      return runs.stream().anyMatch(run -> run.round > 1);
    }

    /** Returns the runs of a setting in round 1, or in {@code round} and all later ones. */
    private Stream<Run> inRound(int round, String setting) {
      return runs.stream()
          .filter(run -> run.setting.equals(setting))
          .filter(run -> round == 1 ? run.round == 1 : run.round >= round);
    }

    double rate(String setting) {
      List<Double> later = inRound(2, setting).map(Run::rate).toList();
      return later.isEmpty() ? firstRate(setting) : Pairs.median(later);
    }

    /** Returns the median, over later rounds, of the ratio of two settings in the same round. */
    double ratio(Figure figure, String setting, String reference) {
      return Pairs.median(ratios(figure, setting, reference));
    }

    /**
     * Returns the ratios of two settings in the later rounds, or in the first if no other has both.
     */
    List<Double> ratios(Figure figure, String setting, String reference) {
      List<Double> later = ratios(figure, setting, reference, 2);
      return later.isEmpty() ? ratios(figure, setting, reference, 1) : later;
    }

    private List<Double> ratios(Figure figure, String setting, String reference, int first) {
      List<Double> ratios = new ArrayList<>();
      for (Run run : runs) {
        for (Run other : runs) {
          if (run.round >= first
              && run.round == other.round
              && run.setting.equals(setting)
              && other.setting.equals(reference)) {
            ratios.add(figure.of(run) / figure.of(other));
          }
        }
      }
      return ratios;
    }
  }

  private final Checkout checkout = Checkout.find();
  private final Path work = Files.createDirectories(checkout.work("auto"));
  private final int rounds;
  private final int epochs;
  private final int percent;
  private final String only;
  private final boolean defaultThreads;

  /** Another version of the agent; null to compare with none. */
  private final @Nullable Path otherJar;

  private int differingRuns;
  private final List<String> missed = new ArrayList<>();

  private AutoBenchmark(
      int rounds,
      int epochs,
      int percent,
      String only,
      boolean defaultThreads,
      @Nullable Path otherJar)
      throws IOException {
    this.rounds = rounds;
    this.epochs = epochs;
    this.percent = percent;
    this.only = only;
    this.defaultThreads = defaultThreads;
    this.otherJar = otherJar;
  }

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    AutoBenchmark benchmark =
        new AutoBenchmark(
            args.length > 0 ? Integer.parseInt(args[0]) : 3,
            args.length > 1 ? Integer.parseInt(args[1]) : 0,
            args.length > 2 ? Integer.parseInt(args[2]) : 100,
            args.length > 3 && !args[3].equals("all") ? args[3] : "",
            args.length > 4 && args[4].equals("default-threads"),
            args.length > 5 ? Path.of(args[5]).toAbsolutePath() : null);
    benchmark.measure();
    System.out.println("made by: " + Commands.of(benchmark.checkout, AutoBenchmark.class, args));
    System.exit(benchmark.missed.isEmpty() ? 0 : 1);
  }

  private void measure() throws IOException, InterruptedException {
    System.out.println(Jdks.running() + "; " + OtherLoad.machine());
    TextTable table =
        new TextTable(
            "program",
            "epochs",
            "off samples/s",
            "best by hand",
            "samples/s",
            "auto samples/s",
            "auto/best",
            "lowest to highest",
            "auto/off",
            "CPU auto/off",
            "CPU auto/no agent",
            "auto/other version");
    for (Program program : PROGRAMS) {
      if (program.toString().contains(only)) {
        row(table, program, runs(program));
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%nSamples/s, the median from the third epoch on (from the second of four); CPU time of the"
            + " whole process; %s%n%s",
        differingRuns == 0
            ? "all losses are the same"
            : "the losses of " + differingRuns + " runs differ from those of the first",
        table);
    System.out.printf(
        Locale.ROOT,
        "bars: auto at least %.2f of the best by hand; where nothing helps at most %.0f %% slower"
            + " than off, and %.0f %% more CPU: %s%n",
        BEST_BAR,
        100 * COST_BAR,
        100 * COST_BAR,
        missed.isEmpty() ? "met" : "missed by " + String.join(", ", missed));
  }

  private void row(TextTable table, Program program, Runs runs) {
    String best = runs.best();
    double speedOverBest = runs.ratio(Run::rate, AUTO, best);
    double ofOff = runs.ratio(Run::rate, AUTO, OFF);
    double cpu = runs.ratio(Run::cpu, AUTO, OFF);
    if (program.isHelped && speedOverBest < BEST_BAR) {
      missed.add(program + " (speed)");
    }
    if (!program.isHelped && ofOff < 1 - COST_BAR) {
      missed.add(program + " (speed)");
    }
    if (!program.isHelped && cpu > 1 + COST_BAR) {
      missed.add(program + " (CPU)");
    }
    table.row(
        program.toString(),
        Integer.toString(epochs > 0 ? epochs : program.epochs),
        text(0, runs.rate(OFF)),
        best,
        text(0, runs.rate(best)),
        text(0, runs.rate(AUTO)),
        text(2, speedOverBest),
        range(runs.ratios(Run::rate, AUTO, best)),
        text(2, ofOff),
        text(2, cpu),
        text(2, runs.ratio(Run::cpu, AUTO, NO_AGENT)),
        otherJar == null
            ? ""
            : text(2, runs.ratio(Run::rate, AUTO, OTHER))
                + ", "
                + range(runs.ratios(Run::rate, AUTO, OTHER)));
  }

  private static String range(List<Double> values) {
    return text(2, Pairs.min(values)) + " to " + text(2, Collections.max(values));
  }

  /** Runs a program in every setting, and then again in the settings to compare. */
  private Runs runs(Program program) throws IOException, InterruptedException {
    int samples = Math.max(64, program.samples * percent / 100);
    String data = program.program().data(checkout, work, samples);
    List<String> settings = new ArrayList<>(List.of(NO_AGENT, OFF));
    settings.addAll(program.settings);
    settings.add(AUTO);
    if (otherJar != null) {
      settings.add(OTHER);
    }
    job(program, data, NO_AGENT, 3).run().orFail(program + ""); // Fills the page cache.
    List<String> losses = List.of();
    Runs runs = new Runs(new ArrayList<>());
    for (int round = 1; round <= rounds; round++) {
      for (String setting : settings) {
        ChildResult result =
            job(program, data, setting, epochs > 0 ? epochs : program.epochs)
                .run()
                .orFail(program + "");
        Files.writeString(work.resolve(fileName(program, setting, round)), output(result));
        TrainingEpochs printed = TrainingEpochs.of(result.out(), program.firstScored());
        boolean differ = !losses.isEmpty() && !losses.equals(printed.losses());
        differingRuns += differ ? 1 : 0;
        if (differ && !defaultThreads) {
          throw new IllegalStateException(
              program
                  + ", "
                  + setting
                  + ": losses are "
                  + printed.losses()
                  + ", expected "
                  + losses);
        }
        losses = losses.isEmpty() ? printed.losses() : losses;
        runs.runs.add(new Run(round, setting, printed.rate(), result.cpuSeconds()));
        System.out.printf(
            Locale.ROOT,
            "  %s, round %d, %s: %.0f samples/s, %.1f s of CPU, %.1f s in all%n",
            program,
            round,
            setting,
            printed.rate(),
            result.cpuSeconds(),
            result.wall().toMillis() / 1000.0);
      }
      settings = new ArrayList<>(runs.candidates());
      if (!program.isHelped && !settings.contains(OFF)) {
        settings.add(OFF);
      }
      settings.add(AUTO);
      if (otherJar != null) {
        settings.add(OTHER);
      }
      if (round % 2 == 0) {
        Collections.reverse(settings); // Spreads changes of the machine's speed over all settings.
      }
    }
    return runs;
  }

  private static String fileName(Program program, String setting, int round) {
    return (program + " " + setting + " " + round).replaceAll("[^A-Za-z0-9]+", "-") + ".log";
  }

  private static String output(ChildResult result) {
    return result.out() + result.err();
  }

  private ChildJvm job(Program program, String data, String setting, int count) throws IOException {
    ChildJvm job = program.program().job(checkout, data, count);
    if (defaultThreads) {
      job.withoutEnvironment("OMP_NUM_THREADS");
    }
    return switch (setting) {
      case NO_AGENT -> job;
      case OFF -> job.agent(checkout.agentJar(), "record=off");
      case OTHER -> job.agent(Objects.requireNonNull(otherJar), "record=off," + AUTO);
      default -> job.agent(checkout.agentJar(), "record=off," + setting);
    };
  }

  private static String text(int digits, double value) {
    return String.format(Locale.ROOT, "%." + digits + "f", value);
  }
}
