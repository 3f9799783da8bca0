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
 * Collects the steps of one phase until its time per sample is known precisely enough. Used on the
 * training thread and, at the end, by the thread that ends the job; not synchronised.
 */
final class Gauge {
  /** Required half width of the confidence interval, as a share of the mean. */
  private static final double PRECISION = 0.01;

  /**
   * Steps known this precisely are considered steady even if {@link SteadyState} finds no steady
   * state: a 1 % change of level half-way through would already make the interval this wide.
   */
  private static final double STEADY_ANYWAY = PRECISION / 4;

  static final int MIN_STEPS = 20;
  static final long MIN_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int MAX_STEPS = 20_000;

  /** Usual duration of a phase's turn. */
  private static final long TURN_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final int TURN_STEPS = 20;

  /** Idle storage is faster at first than it can sustain. */
  private static final long SETTLING_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final int CHECK_EVERY = 5;

  private static final @Nullable OperatingSystemMXBean SYSTEM =
      ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean known
          ? known
          : null;

  private static final int CORES = Runtime.getRuntime().availableProcessors();

  private final int requestedSteps;
  private final int transition;
  private final List<Step> steps = new ArrayList<>();

  /**
   * The same steps without the time in which the training thread had no core. On a busy machine
   * that time differs from step to step, so step times that include it may never become steady.
   */
  private final List<Step> own = new ArrayList<>();

  private final PhaseEvent total = new PhaseEvent();
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
  private boolean busy;
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
    PhaseEvent figures = step.figures();
    total.add(figures);
    long ownNanos = Math.round(new CoreLaw(figures, CORES).own());
    own.add(new Step(step.samples(), ownNanos, step.work()));
    nanos += step.nanos();
    turnNanos += step.nanos();
    if (steps.size() >= evaluated + CHECK_EVERY) {
      evaluated = steps.size();
      evaluate();
    }
  }

  /** Drops all steps of this turn, because they did not belong to this phase. */
  void restart() {
    total.subtract(sum(steps.subList(turnBegins, steps.size())));
    steps.subList(turnBegins, steps.size()).clear();
    own.subList(turnBegins, own.size()).clear();
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

  /**
   * Whether other phases may have a turn. Sufficient precision ends only the first turn early,
   * unless the user set the number of steps.
   */
  boolean isTurnOver() {
    return isFull()
        || (done && (turns == 1 || requestedSteps > 0))
        || (turnNanos >= TURN_NANOS && steps.size() - turnBegins >= TURN_STEPS);
  }

  /** Whether the limit of time or steps has been reached and all steps have been evaluated. */
  boolean isFull() {
    return evaluated == steps.size()
        && evaluated > 0
        && (nanos >= MAX_NANOS || evaluated >= Math.max(requestedSteps, MAX_STEPS));
  }

  private void evaluate() {
    busy = new CoreLaw(total, CORES).isMachineBusy();
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

  boolean hasEnoughSteps() {
    return steps.size() >= 2 * SteadyState.GROUP;
  }

  String tooFew() {
    return tooFew(taken());
  }

  static String tooFew(int steps) {
    return "only " + steps + (steps == 1 ? " step was" : " steps were") + " seen";
  }

  /** Ends the phase with the steps so far, however imprecise their mean is. */
  void close() {
    if (!done && hasEnoughSteps()) {
      busy = new CoreLaw(total, CORES).isMachineBusy();
      estimateFrom(begin());
      done = true;
    }
  }

  /**
   * Returns the number of steps before the steady state. If there is none, returns -1 in the first
   * turn, 0 later. Later turns are not searched: ignoring turns in which the machine was slow for
   * all phases would make this phase look faster than the others.
   */
  private int begin() {
    List<Step> searched = turns == 1 ? judged() : judged().subList(0, firstTurn);
    int begin = SteadyState.begin(searched.stream().mapToDouble(Step::perSample).toArray());
    return turns == 1 ? begin : Math.max(0, begin);
  }

  private void estimateFrom(int begin) {
    dropped = Math.max(0, begin);
    estimate = Estimate.of(judged().subList(dropped, steps.size()));
    steady = estimate.relativeError() <= (begin < 0 ? STEADY_ANYWAY : PRECISION);
  }

  private List<Step> judged() {
    return busy ? own : steps;
  }

  private static PhaseEvent sum(List<Step> some) {
    PhaseEvent sum = new PhaseEvent();
    some.forEach(step -> sum.add(step.figures()));
    return sum;
  }

  /** Returns all figures so far, and the CPU time of the process. */
  static PhaseEvent reading(SpanRecorder spans) {
    PhaseEvent now = new PhaseEvent();
    now.add(spans.totals().snapshot());
    now.cpu = SYSTEM == null ? 0 : SYSTEM.getProcessCpuTime();
    return now;
  }

  PhaseEvent work() {
    return sum(counted());
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
    event.sampleNanos = estimate.nanos();
    event.sampleNanosError = estimate.error();
    event.steady = steady;
    event.note =
        note(note, estimate.outlier())
            + (busy ? busy(note, new CoreLaw(event, CORES).own() / event.wall) : "");
    return event;
  }

  private String busy(String note, double own) {
    return (note.isEmpty() && estimate.outlier() == 0 ? "" : "; ")
        + Text.format(
            "busy machine: excludes the %.0f %% of the time in which other programs used the cores",
            100 * (1 - own));
  }

  private static String note(String note, long outlier) {
    return outlier == 0
        ? note
        : note
            + (note.isEmpty() ? "" : "; ")
            + Text.format("one step of %.0f ms ignored", outlier / 1e6);
  }
}
