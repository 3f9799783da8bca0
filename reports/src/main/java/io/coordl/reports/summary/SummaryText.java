package io.coordl.reports.summary;

import io.coordl.advice.Figures;
import io.coordl.advice.Passes;
import io.coordl.advice.Text;
import io.coordl.advice.Text.Bytes;
import io.coordl.advice.Text.Nanos;
import io.coordl.reports.summary.Summary.Latency;
import io.coordl.reports.summary.Summary.Pass;
import io.coordl.reports.summary.Summary.Store;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** A summary as at most {@value #MOST_LINES} lines of plain text. */
public final class SummaryText {
  static final int MOST_LINES = 20;

  private static final List<String> LATENCIES =
      List.of("fetch", "decode", "transform", "batch", "peer found");
  private static final int LONGEST_NAME = 100;

  private SummaryText() {}

  /** The lines, without line ends. */
  public static List<String> lines(Summary summary) {
    List<String> lines = new ArrayList<>();
    lines.add(title(summary));
    lines.add(program(summary));
    addTimes(lines, summary.totals().figures());
    addEpochs(lines, summary.epochs(), summary.stagings().isEmpty() ? 1 : 0);
    summary.stores().stream()
        .findFirst()
        .ifPresent(first -> lines.add(store(first, summary.stores().size() - 1)));
    summary.stagings().stream()
        .max(Comparator.comparingLong(SummaryText::batches))
        .ifPresent(
            first ->
                lines.add(
                    staging(first, summary.stagings().size() - 1, summary.totals().epochs() > 0)));
    lines.add(items(summary.totals().figures()) + decoded(summary.stores()));
    if (!summary.peers().isEmpty()) {
      lines.add(peers(summary.peers()));
    }
    addLatencies(lines, summary.latencies());
    addFaults(lines, summary.faults());
    lines.add("Try next    " + summary.next().sentence());
    return lines;
  }

  private static String title(Summary summary) {
    String title = "CoorDL summary of " + Text.line(summary.recording().file(), LONGEST_NAME);
    return summary.recording().endsEarly()
        ? title + " (ends early: its JVM died or is still recording)"
        : title;
  }

  private static String program(Summary summary) {
    Summary.Program program = summary.program();
    Summary.Totals totals = summary.totals();
    String name =
        Text.line(Objects.requireNonNullElse(program.mainClass(), "unknown"), LONGEST_NAME);
    String frameworks =
        Text.line(Objects.requireNonNullElse(program.frameworks(), ""), LONGEST_NAME);
    return "Program     "
        + name
        + (program.pid() == null ? "" : " (pid " + program.pid() + ")")
        + (frameworks.isEmpty() ? "" : ", " + frameworks)
        + ", "
        + Summary.ended(summary.epochs()).words(totals.epochs(), totals.passes())
        + ", "
        + Text.count(totals.figures().batches(), "batch", "batches")
        + (totals.origin().equals("job") ? "" : " (sum of the finished epochs)");
  }

  private static void addTimes(List<String> lines, Figures totals) {
    lines.add("Where the time went         seconds  % of wall");
    lines.add(time("wall", totals.wallNanos(), totals));
    lines.add(time("compute", totals.computeNanos(), totals));
    lines.add(time("data stall", totals.stallNanos(), totals));
    lines.add(time("  fetch", totals.fetchStallNanos(), totals));
    lines.add(time("  prep", totals.prepStallNanos(), totals));
    lines.add(time("  garbage collection", totals.gcStallNanos(), totals));
    lines.add(time("  queueing", totals.queueStallNanos(), totals));
    lines.add(time("checkpoint", totals.checkpointNanos(), totals));
  }

  private static String time(String name, long nanos, Figures totals) {
    return Text.format(
        "  %-22s %10s %10s", name, Text.seconds(nanos), Text.percent(nanos, totals.wallNanos()));
  }

  /**
   * The first, the second if there is room, and the last: cold, warm, and what it came to; of
   * evaluations, which are no epochs, the last.
   */
  private static void addEpochs(List<String> lines, List<Pass> passes, int second) {
    if (passes.isEmpty()) {
      return;
    }
    boolean peers = passes.stream().anyMatch(pass -> pass.figures().peerItems() > 0);
    lines.add(
        "Epoch            wall s  compute s    stall s    fetch s     prep s  files opened"
            + (peers ? "  memory / peers / storage" : ""));
    List<Pass> epochs = passes.stream().filter(pass -> !pass.isEvaluation()).toList();
    List<Pass> evaluations = passes.stream().filter(Pass::isEvaluation).toList();
    Set<Pass> shown = new LinkedHashSet<>();
    if (!epochs.isEmpty()) {
      shown.add(epochs.get(0));
      shown.add(epochs.get(evaluations.isEmpty() ? Math.min(second, epochs.size() - 1) : 0));
      shown.add(epochs.get(epochs.size() - 1));
    }
    if (!evaluations.isEmpty()) {
      shown.add(evaluations.get(evaluations.size() - 1));
    }
    for (Pass pass : shown) {
      Figures figures = pass.figures();
      lines.add(
          Text.format(
              "  %-10s %10s %10s %10s %10s %10s %,13d%s%s",
              label(pass),
              Text.seconds(figures.wallNanos()),
              Text.seconds(figures.computeNanos()),
              Text.seconds(figures.stallNanos()),
              Text.seconds(figures.fetchStallNanos()),
              Text.seconds(figures.prepStallNanos()),
              figures.storageItems(),
              peers ? origins(figures) : "",
              pass.complete() ? "" : "  left early"));
    }
  }

  private static String label(Pass pass) {
    return switch (pass.kind()) {
      case Pass.EVALUATION -> "eval. " + pass.number();
      case Pass.UNKNOWN -> "pass " + pass.number();
      default -> String.valueOf(pass.number());
    };
  }

  /** The shares of the items that each place answered, in percent. */
  private static String origins(Figures figures) {
    double hundredth = figures.items() / 100.0;
    return figures.items() == 0
        ? ""
        : Text.format(
            "  %3.0f / %3.0f / %3.0f %%",
            figures.memoryItems() / hundredth,
            figures.peerItems() / hundredth,
            figures.storageItems() / hundredth);
  }

  private static String store(Store store, int more) {
    long openings = store.hits() + store.misses();
    return "Store       "
        + Objects.requireNonNullElse(store.store(), "raw")
        + ", "
        + Objects.requireNonNullElse(store.scope(), "process")
        + ": "
        + new Bytes(store.usedBytes())
        + " of "
        + new Bytes(store.capacityBytes())
        + " used ("
        + Text.percent(store.usedBytes(), store.capacityBytes())
        + "), "
        + Text.count(store.items(), "item", "items")
        + ", "
        + Text.count(store.hits(), "hit", "hits")
        + " of "
        + Text.format("%,d", openings)
        + " ("
        + Text.percent(store.hits(), openings)
        + ")"
        + (more == 0 ? "" : "; " + more + " more: see --json");
  }

  private static long batches(Summary.Staging staging) {
    return taken(staging) + alone(staging);
  }

  private static long taken(Summary.Staging staging) {
    return staging.mapped() + staging.copied();
  }

  private static long alone(Summary.Staging staging) {
    return staging.nobody() + staging.notStaged() + staging.late() + staging.lost();
  }

  private static String staging(Summary.Staging staging, int more, boolean training) {
    long taken = taken(staging);
    long alone = alone(staging);
    return "Prep group  "
        + Text.line(Objects.requireNonNullElse(staging.group(), "default"), LONGEST_NAME)
        + ": "
        + Passes.shared(staging.sharedPasses(), staging.passes(), staging.updates() > 0, training)
        + ", "
        + Text.count(taken, "batch", "batches")
        + " from the group, "
        + Text.format("%,d", staging.prepared())
        + " prepared for it, "
        + Text.format("%,d", alone)
        + " for itself"
        + (staging.slowestJob() == 0
            ? ""
            : "; its threads wait mostly for job "
                + staging.slowestJob()
                + " ("
                + new Nanos(staging.waitedForSlowestNanos())
                + ")")
        + (more == 0 ? "" : "; " + more + " more: see --json");
  }

  private static String items(Figures totals) {
    return "Items       "
        + Text.format("%,d", totals.items())
        + " fetched: "
        + Text.format("%,d", totals.memoryItems())
        + " from memory ("
        + new Bytes(totals.memoryBytes())
        + "), "
        + peers(totals)
        + Text.format("%,d", totals.storageItems())
        + " from storage ("
        + new Bytes(totals.storageBytes())
        + "), each a file opened";
  }

  /** An item that is kept decoded is not fetched again: it came from memory all the same. */
  private static String decoded(List<Store> stores) {
    long hits =
        stores.stream()
            .filter(store -> "decoded".equals(store.store()))
            .mapToLong(Store::hits)
            .sum();
    return hits == 0 ? "" : "; " + Text.count(hits, "more", "more") + " from memory, decoded";
  }

  private static String peers(Figures totals) {
    return totals.peerItems() == 0
        ? ""
        : Text.format("%,d", totals.peerItems())
            + " from other hosts ("
            + new Bytes(totals.peerBytes())
            + "), ";
  }

  /** All hosts together. */
  private static String peers(List<Summary.Peer> peers) {
    long found = peers.stream().mapToLong(Summary.Peer::found).sum();
    long nanos = peers.stream().mapToLong(Summary.Peer::foundNanos).sum();
    return "Peers       "
        + Text.count(peers.size(), "host", "hosts")
        + " asked: "
        + Text.count(found, "item", "items")
        + " found ("
        + new Bytes(peers.stream().mapToLong(Summary.Peer::receivedBytes).sum())
        + (found == 0 ? "" : ", " + new Nanos(nanos / found) + " each")
        + "), "
        + Text.format("%,d", peers.stream().mapToLong(Summary.Peer::kept).sum())
        + " kept there, "
        + Text.format("%,d", peers.stream().mapToLong(Summary.Peer::late).sum())
        + " late, "
        + Text.format("%,d", peers.stream().mapToLong(Summary.Peer::failed).sum())
        + " failed";
  }

  private static void addLatencies(List<String> lines, List<Latency> latencies) {
    String shown =
        LATENCIES.stream()
            .flatMap(kind -> latencies.stream().filter(latency -> latency.kind().equals(kind)))
            .filter(latency -> latency.count() > 0)
            .map(SummaryText::latency)
            .collect(Collectors.joining(", "));
    if (!shown.isEmpty()) {
      lines.add("p50 / p99   " + shown);
    }
  }

  private static String latency(Latency latency) {
    return latency.kind()
        + " "
        + new Nanos(latency.p50Nanos())
        + " / "
        + new Nanos(latency.p99Nanos());
  }

  private static void addFaults(List<String> lines, Summary.Faults faults) {
    if (faults.count() == 0) {
      return;
    }
    String first =
        faults.examples().stream()
            .findFirst()
            .map(example -> ", the first in " + example.where() + ": " + example.cause())
            .orElse("");
    lines.add(
        "Faults      "
            + Text.line(
                Text.count(faults.count(), "fault", "faults")
                    + " inside the agent (the program went on without it)"
                    + first,
                2 * LONGEST_NAME));
  }
}
