package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.Jdks;
import io.coordl.harness.KnownRates;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Checks profiles against the truth: profiles programs whose rates are known by construction,
 * several times in a row. The programs sleep, so they run in parallel. Exits with 1 if in any run a
 * rate is wrong by more than 3 %, or a share of the epoch by more than 2 points. Arguments: a part
 * of the programs' names (all), and the number of runs (10).
 *
 * <p>Each run also prints how late short sleeps of this benchmark ended, which shows the effect of
 * other load on all programs.
 */
public final class ProfileBenchmark {
  /** The promised error of rates, as a share. */
  public static final double RATE_LIMIT = 0.03;

  /** The promised error of shares of an epoch. */
  public static final double SHARE_LIMIT = 0.02;

  private ProfileBenchmark() {}

  /** The figure furthest from the truth, over all runs of a program. */
  private record Worst(double truth, double measured, double error) {
    Worst or(Worst other) {
      return Math.abs(other.error) > Math.abs(error) ? other : this;
    }
  }

  /** The errors over all runs of a program. */
  private record Errors(KnownRates program, Map<String, Worst> rates, Map<String, Worst> shares) {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws InterruptedException {
    String part = args.length > 0 ? args[0] : "";
    int runs = args.length > 1 ? Integer.parseInt(args[1]) : 10;
    Checkout checkout = Checkout.find();
    Path work = checkout.work("profile");
    List<KnownRates> programs =
        KnownRates.all().stream().filter(program -> program.toString().contains(part)).toList();
    if (programs.isEmpty()) {
      System.out.println(
          "Not measured: no program has \""
              + part
              + "\" in its name; the programs are "
              + KnownRates.all()
              + ".");
      System.exit(2);
    }
    List<Future<Errors>> all = new ArrayList<>();
    try (Lateness lateness = new Lateness()) {
      ExecutorService pool = Executors.newFixedThreadPool(programs.size());
      for (KnownRates program : programs) {
        all.add(pool.submit(() -> measure(program, runs, checkout, work, lateness)));
      }
      pool.shutdown();
      TextTable table =
          new TextTable("program", "figure", "true", "measured", "worst error", "limit");
      boolean wrong = false;
      for (Future<Errors> one : all) {
        Errors errors = one.get();
        wrong |= add(table, errors.program, errors.rates, "ms a sample", RATE_LIMIT);
        wrong |= add(table, errors.program, errors.shares, "% of an epoch", SHARE_LIMIT);
      }
      System.out.printf(
          "%nProfiles on %s, %d runs each: the figure known by construction, and the measurement"
              + " furthest from it%n%s",
          Jdks.running(), runs, table);
      if (wrong) {
        System.out.println("Wrong by more than promised.");
        System.exit(1);
      }
    } catch (ExecutionException e) {
      e.printStackTrace();
      System.exit(1); // The other programs still run.
    }
  }

  private static Errors measure(
      KnownRates program, int runs, Checkout checkout, Path work, Lateness lateness)
      throws IOException, InterruptedException {
    Map<String, Worst> rates = new LinkedHashMap<>();
    Map<String, Worst> shares = new LinkedHashMap<>();
    for (int run = 1; run <= runs; run++) {
      long begin = System.nanoTime();
      KnownRates.Profile profile = program.measure(checkout, Jdks.running(), work, "");
      for (KnownRates.Time time : profile.times()) {
        // The promise is about rates: a time 3 % too long is a rate 2.9 % too low.
        double error = time.truth() / time.measured() - 1;
        rates.merge(
            time.phase(), new Worst(time.truth() / 1e6, time.measured() / 1e6, error), Worst::or);
      }
      for (KnownRates.Time share : profile.shares()) {
        double error = share.measured() - share.truth();
        shares.merge(
            share.phase(),
            new Worst(100 * share.truth(), 100 * share.measured(), error),
            Worst::or);
      }
      System.out.printf(
          Locale.ROOT,
          "  %-28s run %d: %s; %s%n",
          program,
          run,
          rates(profile),
          lateness.since(begin));
    }
    return new Errors(program, rates, shares);
  }

  private static String rates(KnownRates.Profile profile) {
    StringBuilder line = new StringBuilder();
    for (KnownRates.Time time : profile.times()) {
      line.append(
          String.format(
              Locale.ROOT,
              " %s %+.2f %%",
              time.phase(),
              100 * (time.truth() / time.measured() - 1)));
    }
    return line.toString();
  }

  private static boolean add(
      TextTable table, KnownRates program, Map<String, Worst> all, String unit, double limit) {
    boolean wrong = false;
    for (Map.Entry<String, Worst> entry : all.entrySet()) {
      Worst worst = entry.getValue();
      boolean bad = !(Math.abs(worst.error()) <= limit);
      wrong |= bad;
      table.row(
          program.toString(),
          entry.getKey() + ", " + unit,
          String.format(Locale.ROOT, "%.3f", worst.truth()),
          String.format(Locale.ROOT, "%.3f", worst.measured()),
          String.format(Locale.ROOT, "%+.2f %%%s", 100 * worst.error(), bad ? " !" : ""),
          String.format(Locale.ROOT, "%.0f %%", 100 * limit));
    }
    return wrong;
  }
}
