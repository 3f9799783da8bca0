package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.Jdks;
import io.coordl.harness.KnownWaits;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Checks the agent against the truth: compares the data stalls that it measures with the waits that
 * the programs measure themselves. Exits with 1 if the agent is wrong by more than 3 %. Argument: a
 * part of the programs' names (all).
 */
public final class TruthBenchmark {
  private TruthBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    String part = args.length > 0 ? args[0] : "";
    Checkout checkout = Checkout.find();
    Path work = checkout.work("truth");
    TextTable table = new TextTable("program", "true s", "measured s", "error %");
    List<KnownWaits> wrong = new ArrayList<>();
    for (KnownWaits program : KnownWaits.all()) {
      if (!program.toString().contains(part)) {
        continue;
      }
      KnownWaits.Accounts accounts = program.measure(checkout, Jdks.running(), work);
      System.out.printf(
          Locale.ROOT, "  %-28s %+.2f %%%n", program.toString(), 100 * accounts.error());
      table.row(
          program.toString(),
          String.format(Locale.ROOT, "%.4f", accounts.trueNanos() / 1e9),
          String.format(Locale.ROOT, "%.4f", accounts.measuredNanos() / 1e9),
          String.format(Locale.ROOT, "%+.2f", 100 * accounts.error()));
      if (!(Math.abs(accounts.error()) <= KnownWaits.LIMIT)) {
        wrong.add(program);
      }
    }
    System.out.printf(
        "%nData stalls on %s, measured by the program and by the agent%n%s", Jdks.running(), table);
    if (!wrong.isEmpty()) {
      System.out.println("Wrong by more than 3 %: " + wrong);
      System.exit(1);
    }
  }
}
