package io.coordl.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Whether a profile tells the truth: programs whose rates are known by construction are profiled
 * ten times in a row. Exits with 1 if a rate is wrong by more than 3 %, or a share of the epoch by
 * more than 2 points, in any of the runs. Arguments: the part of a name that programs must have to
 * be run (all), and the number of runs (10).
 */
public final class ProfileBenchmark {
  /** The promise for rates, as a share. */
  public static final double RATE_LIMIT = 0.03;

  /** The promise for shares of an epoch. */
  public static final double SHARE_LIMIT = 0.02;

  private ProfileBenchmark() {}

  /** The figure that is furthest from the truth, in all runs of a program. */
  private record Worst(double truth, double measured, double error) {
    Worst or(Worst other) {
      return Math.abs(other.error) > Math.abs(error) ? other : this;
    }
  }

  /** See the class. */
  public static void main(String[] args) throws IOException, InterruptedException {
    String part = args.length > 0 ? args[0] : "";
    int runs = args.length > 1 ? Integer.parseInt(args[1]) : 10;
    Checkout checkout = Checkout.find();
    Path work = checkout.work("profile");
    TextTable table =
        new TextTable("program", "figure", "true", "measured", "worst error", "limit");
    boolean wrong = false;
    for (KnownRates program : KnownRates.all()) {
      if (!program.toString().contains(part)) {
        continue;
      }
      Map<String, Worst> rates = new LinkedHashMap<>();
      Map<String, Worst> shares = new LinkedHashMap<>();
      for (int run = 1; run <= runs; run++) {
        KnownRates.Profile profile = program.measure(checkout, Jdks.running(), work, "");
        for (KnownRates.Time time : profile.times()) {
          // Rates, as promised: a time that is 3 % too long is a rate that is 2.9 % too low.
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
        System.out.printf(Locale.ROOT, "  %-28s run %d: %s%n", program, run, rates(profile));
      }
      wrong |= add(table, program, rates, "ms a sample", RATE_LIMIT);
      wrong |= add(table, program, shares, "% of an epoch", SHARE_LIMIT);
    }
    System.out.printf(
        "%nProfiles on %s, %d runs each: what is known by construction, and what is furthest from"
            + " it%n%s",
        Jdks.running(), runs, table);
    if (wrong) {
      System.out.println("Wrong by more than is promised.");
      System.exit(1);
    }
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
