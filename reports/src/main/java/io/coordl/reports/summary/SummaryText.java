package io.coordl.reports.summary;

import io.coordl.reports.summary.Summary.Epoch;
import io.coordl.telemetry.advice.CoreWaits;
import io.coordl.telemetry.advice.Epochs;
import io.coordl.telemetry.advice.Gpus;
import io.coordl.telemetry.advice.OpenWaitText;
import io.coordl.telemetry.advice.Part;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.advice.Text.Bytes;
import io.coordl.telemetry.advice.Text.Nanos;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.OpenWaitEvent;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/** Formats a summary as at most {@value #MAX_LINES} lines of plain text. */
public final class SummaryText {
  static final int MAX_LINES = 20;

  private static final List<String> LATENCIES =
      List.of("fetch", "decode", "transform", "batch", "peer found");
  private static final int MAX_NAME_LENGTH = 100;

  private SummaryText() {}

  public static List<String> lines(Summary summary) {
    List<String> lines = new ArrayList<>();
    lines.add(title(summary));
    if (summary.speed() != null) {
      lines.add(
          Text.format(
              "Speed       %s samples/s %s",
              Text.rate(summary.speed().samplesPerSecond()), summary.speed().of()));
    }
    lines.add(program(summary));
    addTimes(lines, summary.totals().figures());
    List<String> rest = rest(summary);
    addEpochs(lines, summary.epochs(), MAX_LINES - lines.size() - 1 - rest.size());
    lines.addAll(rest);
    return lines;
  }

  private static List<String> rest(Summary summary) {
    List<String> lines = policies(summary, 1);
    lines.add(items(summary.totals().figures()) + kept(summary));
    addLatencies(lines, summary.latencies());
    addFaults(lines, summary.faults());
    OpenWaitEvent wait = summary.openWait();
    if (wait != null) {
      lines.add(
          "Open wait   "
              + (summary.recording().stillRunning()
                  ? OpenWaitText.soFar(wait)
                  : OpenWaitText.atEnd(wait)));
    }
    lines.add("Try next    " + summary.next().sentence());
    return lines;
  }

  /**
   * Returns the effect of each policy: a line per store shown, and one for each other policy.
   *
   * @param maxStores maximum number of stores to show
   */
  public static List<String> policies(Summary summary, int maxStores) {
    List<String> lines = new ArrayList<>();
    // Used stores, the most hits first; if none was used, one line stands for all.
    List<StoreStatisticsEvent> used =
        summary.stores().stream()
            .filter(store -> store.hits > 0 || store.items > 0 || store.bypassed > 0)
            .sorted(Comparator.comparingLong((StoreStatisticsEvent store) -> store.hits).reversed())
            .toList();
    List<StoreStatisticsEvent> stores =
        used.isEmpty() ? summary.stores().stream().limit(1).toList() : used;
    int shown = Math.min(maxStores, stores.size());
    for (int i = 0; i < shown; i++) {
      lines.add(store(stores.get(i), i == shown - 1 ? stores.size() - shown : 0));
    }
    summary.stagings().stream()
        .max(Comparator.comparingLong(SummaryText::batches))
        .ifPresent(
            first ->
                lines.add(
                    staging(
                        first,
                        summary.stagings().size() - 1,
                        summary.totals().figures().updates > 0)));
    if (!summary.peers().isEmpty()) {
      lines.add(peers(summary.peers()));
    }
    if (!summary.gpus().isEmpty()) {
      lines.add("Devices     " + Gpus.line(summary.gpus()));
    }
    return lines;
  }

  private static String title(Summary summary) {
    String title = "CoorDL summary of " + Text.line(summary.recording().file(), MAX_NAME_LENGTH);
    return summary.recording().stillRunning()
        ? title + " (so far: its JVM is still running)"
        : summary.recording().endsEarly()
            ? title + " (ends early: its JVM was killed, or kept running)"
            : title;
  }

  private static String program(Summary summary) {
    Summary.Program program = summary.program();
    Summary.Totals totals = summary.totals();
    String name =
        Text.line(Objects.requireNonNullElse(program.mainClass(), "unknown"), MAX_NAME_LENGTH);
    String frameworks =
        Text.line(Objects.requireNonNullElse(program.frameworks(), ""), MAX_NAME_LENGTH);
    return Text.format(
        "Program     %s%s%s, %s, %s%s",
        name,
        program.pid() == null ? "" : " (pid " + program.pid() + ")",
        frameworks.isEmpty() ? "" : ", " + frameworks,
        summary.epochsInWords(),
        Text.count(totals.figures().batches, "batch", "batches")
            + Epochs.failures(totals.figures()),
        totals.origin().equals("job") ? "" : " (sum of the finished epochs)");
  }

  private static void addTimes(List<String> lines, Figures totals) {
    lines.add(
        Text.format(
            "Where the time went         seconds  %% of %s s wall", Text.seconds(totals.wall)));
    lines.add(time("compute", totals.compute, totals) + after(CoreWaits.inSteps(totals)));
    lines.add(time("data stall", totals.stall, totals) + after(CoreWaits.inPreparation(totals)));
    Part.STALLS.forEach(part -> lines.add(time("  " + part.cause(), part.of(totals), totals)));
    lines.add(time("checkpoint", totals.checkpoint, totals));
    if (totals.share(totals.betweenEpochs()) >= Part.SHOWN) {
      lines.add(time("between epochs", totals.betweenEpochs(), totals));
    }
  }

  private static String after(String more) {
    return more.isEmpty() ? "" : "  " + more;
  }

  private static String time(String name, long nanos, Figures totals) {
    return Text.format(
        "  %-22s %10s %10s", name, Text.seconds(nanos), Text.percent(nanos, totals.wall));
  }

  /**
   * Adds the last epoch, the first (cold), the last evaluation and the second epoch (warm), in this
   * order of precedence, as room allows.
   */
  private static void addEpochs(List<String> lines, List<Epoch> all, int room) {
    if (all.isEmpty() || room < 1) {
      return;
    }
    boolean peers = all.stream().anyMatch(epoch -> epoch.figures().peerItems > 0);
    lines.add(
        "Epoch           wall s compute s   stall s   fetch s    prep s  files opened"
            + (peers ? "  memory / peers / storage" : ""));
    List<Epoch> epochs = all.stream().filter(epoch -> !epoch.isEvaluation()).toList();
    List<Epoch> evaluations = all.stream().filter(Epoch::isEvaluation).toList();
    int last = epochs.size() - 1;
    List<Epoch> wanted = new ArrayList<>();
    if (last >= 0) {
      wanted.add(epochs.get(last));
    }
    if (last >= 1) {
      wanted.add(epochs.get(0));
    }
    if (!evaluations.isEmpty()) {
      wanted.add(evaluations.get(evaluations.size() - 1));
    }
    if (last >= 2) {
      wanted.add(epochs.get(1));
    }
    for (Epoch epoch :
        wanted.stream()
            .limit(room)
            .sorted(Comparator.comparing(Epoch::isEvaluation).thenComparing(Epoch::number))
            .toList()) {
      EpochEvent figures = epoch.figures();
      lines.add(
          Text.format(
              "  %-10s %9s %9s %9s %9s %9s %,13d%s%s",
              (epoch.isEvaluation() ? "eval. " : "") + epoch.number(),
              Text.seconds(figures.wall),
              Text.seconds(figures.compute),
              Text.seconds(figures.stall),
              Text.seconds(Part.FETCH_STALL.of(figures)),
              Text.seconds(Part.PREP_STALL.of(figures)),
              figures.storageItems,
              peers ? origins(figures) : "",
              figures.complete ? "" : "  left early"));
    }
  }

  /** Returns the shares of items from memory, peers and storage, in percent. */
  private static String origins(Figures figures) {
    double hundredth = figures.items / 100.0;
    return figures.items == 0
        ? ""
        : Text.format(
            "  %3.0f / %3.0f / %3.0f %%",
            figures.memoryItems / hundredth,
            figures.peerItems / hundredth,
            figures.storageItems / hundredth);
  }

  private static String store(StoreStatisticsEvent store, int more) {
    long openings = store.hits + store.misses;
    return Text.format(
        "Store       %s, %s: %s of %s used (%s), %s, %s of %,d (%s)%s",
        Objects.requireNonNullElse(store.store, "raw"),
        Objects.requireNonNullElse(store.scope, "process"),
        new Bytes(store.used),
        new Bytes(store.capacity),
        Text.percent(store.used, store.capacity),
        Text.count(store.items, "item", "items"),
        Text.count(store.hits, "hit", "hits"),
        openings,
        Text.percent(store.hits, openings),
        more == 0 ? "" : "; " + more + " more: see --json");
  }

  private static long batches(StagingStatisticsEvent staging) {
    return staging.taken + staging.preparedLocally();
  }

  private static String staging(StagingStatisticsEvent staging, int more, boolean training) {
    long taken = staging.taken;
    long preparedLocally = staging.preparedLocally();
    return Text.format(
        "Prep group  %s: %s, %s from the group, %,d prepared for the group, %,d prepared"
            + " locally%s%s",
        Text.line(Objects.requireNonNullElse(staging.group, "default"), MAX_NAME_LENGTH),
        Epochs.shared(staging.sharedEpochs, staging.epochs, staging.updates > 0, training),
        Text.count(taken, "batch", "batches"),
        staging.prepared,
        preparedLocally,
        staging.slowestJob == 0
            ? ""
            : Text.format(
                "; this job's threads wait mostly for job %s (%s)",
                staging.slowestJob, new Nanos(staging.waitedForSlowest)),
        more == 0 ? "" : "; " + more + " more: see --json");
  }

  private static String items(Figures totals) {
    return Text.format(
        "Items       %,d fetched: %,d from memory (%s), %s%,d from storage (%s; one file opened for"
            + " each)",
        totals.items,
        totals.memoryItems,
        new Bytes(totals.memoryBytes),
        peers(totals),
        totals.storageItems,
        new Bytes(totals.storageBytes));
  }

  private static String kept(Summary summary) {
    long decoded = summary.hits(StoreStatisticsEvent.DECODED);
    long prepared = summary.hits(StoreStatisticsEvent.PREPARED);
    return (decoded == 0
            ? ""
            : "; " + Text.count(decoded, "decoded image", "decoded images") + " from memory")
        + (prepared == 0
            ? ""
            : "; " + Text.count(prepared, "prepared item", "prepared items") + " from memory");
  }

  private static String peers(Figures totals) {
    return totals.peerItems == 0
        ? ""
        : Text.format("%,d from other hosts (%s), ", totals.peerItems, new Bytes(totals.peerBytes));
  }

  /** Returns a line with the totals over all hosts. */
  private static String peers(List<PeerStatisticsEvent> peers) {
    long found = peers.stream().mapToLong(peer -> peer.found).sum();
    long nanos = peers.stream().mapToLong(peer -> peer.foundTime).sum();
    return Text.format(
        "Peers       %s queried: %s found (%s%s), %,d kept there, %,d late, %,d failed",
        Text.count(peers.size(), "host", "hosts"),
        Text.count(found, "item", "items"),
        new Bytes(peers.stream().mapToLong(peer -> peer.receivedBytes).sum()),
        found == 0 ? "" : ", " + new Nanos(nanos / found) + " each",
        peers.stream().mapToLong(peer -> peer.kept).sum(),
        peers.stream().mapToLong(peer -> peer.late).sum(),
        peers.stream().mapToLong(peer -> peer.failed).sum());
  }

  private static void addLatencies(List<String> lines, List<LatencyStatisticsEvent> latencies) {
    String shown =
        LATENCIES.stream()
            .flatMap(kind -> latencies.stream().filter(latency -> kind.equals(latency.kind)))
            .filter(latency -> latency.count > 0)
            .map(SummaryText::latency)
            .collect(Collectors.joining(", "));
    if (!shown.isEmpty()) {
      lines.add("p50 / p99   " + shown);
    }
  }

  private static String latency(LatencyStatisticsEvent latency) {
    return latency.kind + " " + new Nanos(latency.p50) + " / " + new Nanos(latency.p99);
  }

  private static void addFaults(List<String> lines, Summary.Faults faults) {
    if (faults.count() == 0) {
      return;
    }
    String first =
        faults.examples().stream()
            .findFirst()
            .map(example -> ", the first in " + example.where + ": " + example.cause)
            .orElse("");
    lines.add(
        "Faults      "
            + Text.line(
                Text.count(faults.count(), "fault", "faults")
                    + " inside the agent (the program continued without it)"
                    + first,
                2 * MAX_NAME_LENGTH));
  }
}
