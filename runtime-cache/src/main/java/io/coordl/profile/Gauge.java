package io.coordl.profile;

import com.sun.management.OperatingSystemMXBean;
import io.coordl.telemetry.advice.CoreLaw;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.PhaseEvent;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Collects the steps of one phase until its time per sample is known precisely enough. Confined to
 * one thread.
 */
final class Gauge {
  /** Required half width of the confidence interval, as a share of the mean. */
  private static final double PRECISION = 0.01;

  /**
   * Steps known this precisely are considered steady even if {@link SteadyState} finds no steady
   * state: a change of level by 1 % half-way would make the interval as wide.
   */
  private static final double STEADY_ANYWAY = PRECISION / 4;

  static final int MIN_STEPS = 20;
  static final long MIN_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int MAX_STEPS = 20_000;

  /** Duration of a phase's turn. */
  private static final long TURN_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final int TURN_STEPS = 20;

  /** Idle storage is faster at first than it can be for long. */
  private static final long SETTLING_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final int CHECK_EVERY = 5;

  private static final @Nullable OperatingSystemMXBean SYSTEM =
      ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean known
          ? known
          : null;

  /** Minimum share of the time that the job itself had: with less, no correction is reliable. */
  private static final double MIN_OWN_SHARE = 0.1;

  private static final int CORES = Runtime.getRuntime().availableProcessors();

  private final int requestedSteps;
  private final int transition;
  private final List<Step> steps = new ArrayList<>();
  private long nanos;
  private int skipped;
  private int toDrop;
  private long settling;
  private int turns = 1;
  private int turnBegins;
  private int firstTurn;
  private long turnNanos;
  private int dropped;
  private int evaluated;
  private boolean done;
  private boolean steady;
  Estimate estimate = new Estimate(0, Double.POSITIVE_INFINITY, 0);

  /**
   * @param requestedSteps steps to measure; 0: as many as the precision requires
   * @param transition steps to drop in any case, because they began in the previous phase
   */
  Gauge(int requestedSteps, int transition) {
    this.requestedSteps = requestedSteps;
    this.transition = transition;
    this.toDrop = transition;
  }

  void add(Step step) {
    if (toDrop > 0 || settling > 0) {
      toDrop--;
      settling -= step.nanos();
      skipped++;
      return;
    }
    steps.add(step);
    nanos += step.nanos();
    turnNanos += step.nanos();
    if (steps.size() >= evaluated + CHECK_EVERY) {
      evaluated = steps.size();
      evaluate();
    }
  }

  /** Drops all steps of this turn, because they did not belong to this phase. */
  void restart() {
    steps.subList(turnBegins, steps.size()).clear();
    nanos -= turnNanos;
    turnNanos = 0;
    toDrop = transition;
    evaluated = steps.size();
    done = false;
    steady = false;
  }

  /**
   * Begins the next turn, after turns of other phases. These left {@code left} prepared batches,
   * whose steps do not belong to this phase.
   */
  void nextTurn(int left) {
    if (turns == 1) {
      firstTurn = steps.size();
    }
    turns++;
    turnBegins = steps.size();
    turnNanos = 0;
    toDrop = Math.max(transition, left);
    settling = SETTLING_NANOS;
  }

  /** Whether other phases may have a turn; after the first turn, only once its time has passed. */
  boolean isTurnOver() {
    return isFull()
        || (done && (turns == 1 || requestedSteps > 0))
        || (turnNanos >= TURN_NANOS && steps.size() - turnBegins >= TURN_STEPS);
  }

  /** Whether the limits of time or steps are reached and all steps have been evaluated. */
  boolean isFull() {
    return evaluated == steps.size()
        && evaluated > 0
        && (nanos >= MAX_NANOS || evaluated >= Math.max(requestedSteps, MAX_STEPS));
  }

  private void evaluate() {
    int begin = begin();
    List<Step> counted = steps.subList(Math.max(0, begin), steps.size());
    int minSteps = requestedSteps > 0 ? requestedSteps : MIN_STEPS;
    boolean over = isFull();
    if (counted.size() < minSteps && !over) {
      return;
    }
    estimateFrom(begin);
    long time = counted.stream().mapToLong(Step::nanos).sum();
    done =
        over
            || (requestedSteps > 0
                ? counted.size() >= requestedSteps
                : steady && time >= MIN_NANOS);
  }

  boolean isDone() {
    return done;
  }

  /** Steps taken so far, including those of the transition. */
  int taken() {
    return skipped + steps.size();
  }

  boolean hasSome() {
    return steps.size() >= 2 * SteadyState.GROUP;
  }

  String tooFew() {
    return "only " + taken() + " steps were seen in it";
  }

  /** Ends the phase with the steps so far, however precise. */
  void close() {
    if (!done && hasSome()) {
      estimateFrom(begin());
      done = true;
    }
  }

  /**
   * Returns the number of steps before the steady state, -1 if there is none. With several turns,
   * searches only the first: ignoring turns in which the machine was slow for all phases would make
   * this phase look faster than the others.
   */
  private int begin() {
    List<Step> searched = turns == 1 ? steps : steps.subList(0, firstTurn);
    int begin = SteadyState.begin(searched.stream().mapToDouble(Step::perSample).toArray());
    return turns == 1 ? begin : Math.max(0, begin);
  }

  private void estimateFrom(int begin) {
    dropped = Math.max(0, begin);
    estimate = Estimate.of(steps.subList(dropped, steps.size()));
    steady = estimate.relativeError() <= (begin < 0 ? STEADY_ANYWAY : PRECISION);
  }

  /** Returns all figures so far, and the CPU time of the process. */
  static PhaseEvent reading(SpanRecorder spans) {
    PhaseEvent now = new PhaseEvent();
    now.add(spans.totals().snapshot());
    now.cpu = SYSTEM == null ? 0 : SYSTEM.getProcessCpuTime();
    return now;
  }

  PhaseEvent work() {
    PhaseEvent work = new PhaseEvent();
    counted().forEach(step -> work.add(step.work()));
    return work;
  }

  private List<Step> counted() {
    return steps.subList(Math.min(dropped, steps.size()), steps.size());
  }

  PhaseEvent event(String phase, int workers, String note) {
    List<Step> counted = counted();
    PhaseEvent event = work();
    event.phase = phase;
    event.workers = workers;
    event.warmupSteps = (long) skipped + dropped;
    event.steps = counted.size();
    event.samples = counted.stream().mapToLong(Step::samples).sum();
    event.wall = counted.stream().mapToLong(Step::nanos).sum();
    // Part of the time between two batches may be the profile's own, which no step includes.
    double waitShare = event.compute <= 0 ? 0 : (double) event.computeCoreWait / event.compute;
    event.computeCoreWait = Math.round(waitShare * Math.min(event.compute, event.wall));
    boolean busy = new CoreLaw(event, CORES).isMachineBusy();
    double own = busy ? Math.max(MIN_OWN_SHARE, 1 - event.share(event.computeCoreWait)) : 1;
    event.sampleNanos = own * estimate.nanos();
    event.sampleNanosError = own * estimate.error();
    event.steady = steady;
    event.note = note(note, estimate.outlier()) + (busy ? busy(note, own) : "");
    return event;
  }

  private String busy(String note, double own) {
    return (note.isEmpty() && estimate.outlier() == 0 ? "" : "; ")
        + Text.format(
            "busy machine: %.0f %% of the time, in which other programs had the cores, left out",
            100 * (1 - own));
  }

  private static String note(String note, long outlier) {
    return outlier == 0
        ? note
        : note
            + (note.isEmpty() ? "" : "; ")
            + Text.format("one step of %.0f ms set aside", outlier / 1e6);
  }
}
