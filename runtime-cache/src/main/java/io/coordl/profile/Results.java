package io.coordl.profile;

import io.coordl.advice.PhaseParts;
import io.coordl.advice.Text;
import io.coordl.attribution.SpanRecorder;
import io.coordl.cache.ProfiledItems;
import io.coordl.event.HostEvent;
import io.coordl.event.PhaseEvent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What was measured, into the recording and for the user. Thread-safe. */
final class Results {
  private static final double NEARLY = 0.03;

  private final SpanRecorder spans;
  private final ProfiledItems items;
  private final List<PhaseEvent> phases = new ArrayList<>();
  private final List<String> remarks = new ArrayList<>();
  private final Set<String> told = new HashSet<>();
  private int warmup;
  private boolean warm;
  private long itemsCounted;
  private long samplesCounted;
  private @Nullable HostEvent host;

  Results(SpanRecorder spans, ProfiledItems items) {
    this.spans = spans;
    this.items = items;
  }

  /** The program was left to itself for so many steps, which had become steady by then or not. */
  synchronized void warmedUp(int steps, boolean steady) {
    warmup = steps;
    warm = steady;
  }

  /**
   * Items that a sample is made of, in the mean; 1 if that is not known. Nearly a whole number is
   * one: what threads prepare ahead belongs to other batches than those that were counted.
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
    told.add(event.phase);
    // Neither what is replayed nor what is only fetched tells.
    boolean prepares = !Plan.INGESTION.equals(event.phase) && !Plan.FETCH.equals(event.phase);
    if (prepares && event.items > 0 && event.samples > 0) {
      itemsCounted += event.items;
      samplesCounted += event.samples;
    }
    spans.events().write(event);
  }

  /** Whether a phase that is over has figures; else tells {@code reason}, or what it lacks. */
  boolean has(String phase, Gauge gauge, String reason) {
    if (reason.isEmpty()) {
      gauge.close();
    }
    if (reason.isEmpty() && gauge.isDone()) {
      return true;
    }
    notMeasured(phase, reason.isEmpty() ? gauge.tooFew() : reason);
    return false;
  }

  synchronized void notMeasured(String phase, String reason) {
    remark(phase + " was not measured: " + reason);
    emitNotMeasured(phase, reason);
  }

  /** None of these has its figures, unless it was told of before. */
  synchronized void notReached(Collection<String> asked, String reason) {
    for (String phase : asked) {
      if (!told.contains(phase)) {
        emitNotMeasured(phase, reason);
      }
    }
  }

  private void emitNotMeasured(String phase, String reason) {
    told.add(phase);
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
        "profile run: its phases are measured apart, the totals of the whole run mean nothing");
    lines.add(
        Text.format(
            "  warm-up: %d steps%s",
            warmup, warm ? " until they were steady" : ", ended before all was steady"));
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

  /** Of preparation alone, by many numbers of threads, the most and the fewest. */
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
        "  %-10s %10.1f samples/s  %9.4f ms a sample +- %.2f %%  (%d steps%s)",
        name,
        1e9 / phase.sampleNanos,
        phase.sampleNanos / 1e6,
        100 * phase.sampleNanosError / phase.sampleNanos,
        phase.steps,
        note);
  }

  /** As {@code coordl diff} tells them, which also knows their errors. */
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
                + " %.1f %%; coordl diff tells how certain that is",
            all * parts.compute(), all * parts.prep(), all * parts.fetch(), all * parts.gc()));
  }

  /** For garbage collection inside waits, in nanoseconds a sample. */
  private static double pauses(PhaseEvent phase) {
    return phase.samples == 0 ? 0 : (double) phase.gcStall / phase.samples;
  }

  private @Nullable PhaseEvent phase(String name) {
    return phases.stream().filter(phase -> name.equals(phase.phase)).findFirst().orElse(null);
  }
}
