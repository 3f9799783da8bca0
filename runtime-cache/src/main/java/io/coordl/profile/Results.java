package io.coordl.profile;

import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.advice.PhaseParts;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.HostEvent;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Results of a profile, for the recording and the user. Thread-safe. */
final class Results {
  private static final double NEARLY = 0.03;

  private final SpanRecorder spans;
  private final ProfiledItems items;
  private final List<PhaseEvent> phases = new ArrayList<>();
  private final List<String> remarks = new ArrayList<>();
  private final Set<String> reported = new HashSet<>();
  private int warmup;
  private boolean warm;
  private long itemsCounted;
  private long samplesCounted;
  private @Nullable HostEvent host;

  Results(SpanRecorder spans, ProfiledItems items) {
    this.spans = spans;
    this.items = items;
  }

  /**
   * Called after a warm-up.
   *
   * @param steps steps of the warm-up
   * @param steady whether they became steady
   */
  synchronized void warmedUp(int steps, boolean steady) {
    warmup = steps;
    warm = steady;
  }

  /**
   * Returns the mean number of items in a sample, 1 if unknown. Rounds a nearly whole number,
   * because batches prepared ahead distort the count.
   */
  synchronized double itemsPerSample() {
    return samplesCounted == 0 ? 1 : nearlyWhole((double) itemsCounted / samplesCounted);
  }

  static double nearlyWhole(double mean) {
    double whole = Math.rint(mean);
    return Math.abs(mean - whole) <= NEARLY * whole ? whole : mean;
  }

  synchronized void measured(PhaseEvent event) {
    if (phases.isEmpty()) {
      event.warmupSteps += warmup;
    }
    phases.add(event);
    reported.add(event.phase);
    // Replayed batches and fetches alone do not show how many items a sample has.
    boolean prepares = !Plan.INGESTION.equals(event.phase) && !Plan.FETCH.equals(event.phase);
    if (prepares && event.items > 0 && event.samples > 0) {
      itemsCounted += event.items;
      samplesCounted += event.samples;
    }
    spans.events().write(event);
  }

  /**
   * Closes an ended phase. Returns whether it has figures; if not, reports {@code reason}, or too
   * few steps.
   */
  boolean closeOrReport(String phase, Gauge gauge, String reason) {
    if (reason.isEmpty()) {
      gauge.close();
    }
    if (reason.isEmpty() && gauge.isDone()) {
      return true;
    }
    notMeasured(phase, reason.isEmpty() ? gauge.tooFew() : reason);
    return false;
  }

  /** Whether a warm-up has ended. */
  synchronized boolean isWarm() {
    return warmup > 0;
  }

  /** Whether the phase has figures. */
  synchronized boolean has(String phase) {
    return phases.stream().anyMatch(measured -> phase.equals(measured.phase));
  }

  synchronized void notMeasured(String phase, String reason) {
    remark(phase + " was not measured: " + reason);
    emitNotMeasured(phase, reason);
  }

  /** Reports these phases as not measured, except those reported before. */
  synchronized void notReached(Collection<String> requested, String reason) {
    for (String phase : requested) {
      if (!reported.contains(phase)) {
        emitNotMeasured(phase, reason);
      }
    }
  }

  private void emitNotMeasured(String phase, String reason) {
    reported.add(phase);
    PhaseEvent event = new PhaseEvent();
    event.phase = phase;
    event.note = reason;
    spans.events().write(event);
  }

  synchronized void remark(String sentence) {
    remarks.add(sentence);
  }

  synchronized void host(HostEvent event) {
    host = event;
    spans.events().write(event);
  }

  synchronized List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "profile run: phases are measured separately, so the totals of the whole run mean nothing");
    lines.add(
        Text.format(
            "  warm-up: %d steps%s",
            warmup, warm ? " until they were steady" : ", ended before they were steady"));
    for (PhaseEvent phase : phases) {
      if (!Plan.PREP.equals(phase.phase) || isShown(phase)) {
        lines.add(line(phase));
      }
    }
    shares(lines);
    HostEvent known = host;
    if (known != null && known.storageRate > 0) {
      lines.add(
          Text.format(
              "  storage %.1f MB/s +- %.1f (%d threads, %s), memory %.0f MB/s",
              known.storageRate / 1e6,
              known.storageRateError / 1e6,
              known.storageThreads,
              items.access(),
              known.memoryRate / 1e6));
    }
    remarks.forEach(remark -> lines.add("  " + remark));
    return lines;
  }

  /**
   * Whether to show a phase: if preparation alone was measured with many numbers of threads, only
   * the largest and the smallest.
   */
  private boolean isShown(PhaseEvent prep) {
    List<PhaseEvent> all = phases.stream().filter(phase -> Plan.PREP.equals(phase.phase)).toList();
    return all.size() <= 4 || prep == all.get(0) || prep == all.get(all.size() - 1);
  }

  private static String line(PhaseEvent phase) {
    boolean alone = Plan.PREP.equals(phase.phase) || Plan.FETCH.equals(phase.phase);
    String name = phase.phase + (alone ? " by " + phase.workers : "");
    String note =
        (phase.note == null || phase.note.isEmpty() ? "" : "; " + phase.note)
            + (phase.steady ? "" : "; not steady");
    return Text.format(
        "  %-10s %10.1f samples/s  %9.4f ms per sample +- %.2f %%  (%d steps%s)",
        name,
        1e9 / phase.sampleNanos,
        phase.sampleNanos / 1e6,
        100 * phase.sampleNanosError / phase.sampleNanos,
        phase.steps,
        note);
  }

  /** Adds the shares, as reported by {@code coordl diff}, which also knows their errors. */
  private void shares(List<String> lines) {
    PhaseEvent cold = phase(Plan.COLD);
    PhaseEvent cached = phase(Plan.CACHED);
    PhaseEvent ingestion = phase(Plan.INGESTION);
    if (cold == null || cached == null || ingestion == null) {
      return;
    }
    PhaseParts parts =
        PhaseParts.bounded(
            new double[] {
              ingestion.sampleNanos,
              cached.sampleNanos,
              cold.sampleNanos,
              pauses(cached),
              pauses(cold)
            });
    double all = 100 / cold.sampleNanos;
    lines.add(
        Text.format(
            "  of an epoch: compute %.1f %%, prep stall %.1f %%, fetch stall %.1f %%, GC stall"
                + " %.1f %%; coordl diff shows how certain that is",
            all * parts.compute(), all * parts.prep(), all * parts.fetch(), all * parts.gc()));
  }

  /** Returns the GC pauses inside waits, in nanoseconds per sample. */
  private static double pauses(PhaseEvent phase) {
    return phase.samples == 0 ? 0 : (double) phase.gcStall / phase.samples;
  }

  private @Nullable PhaseEvent phase(String name) {
    return phases.stream().filter(phase -> name.equals(phase.phase)).findFirst().orElse(null);
  }
}
