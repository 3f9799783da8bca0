package io.coordl.profile;

import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.PhaseEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * Runs the job's data pipeline against an accelerator that sleeps. When the program requests a
 * batch, this takes batches from its iterator, sleeps for a step after each and drops them; items
 * come from storage. As MLPerf Storage defines it, the accelerator's utilisation is the nominal
 * time of its steps divided by the elapsed time; the first step of an epoch is ignored. The program
 * gets the last batch of an epoch, so that its loop ends as usual, and the stage continues in the
 * next epoch.
 *
 * <p>Several instances start measuring at the same time and run until all have measured enough.
 */
final class EmulatedAccelerator extends Stage {
  static final String PHASE = "accelerator";

  private static final String WARM = "warm";
  private static final String MEASURED = "measured";
  private static final long WARM_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Warm-up if the user sets the number of steps: precise figures are not needed then. */
  private static final long SHORT_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final int MIN_STEPS = 20;

  /** How long this instance waits for the others, whose JVMs may start later; it keeps working. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(180);

  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int MAX_EPOCHS = 1_000;

  private enum State {
    WARMING,
    WAITING,
    MEASURING,
    STAYING
  }

  private final Accelerator accelerator;
  private final Meeting meeting;
  private final LongConsumer sleep;
  private final int requestedSteps;
  private final List<Step> steps = new ArrayList<>();
  private State state = State.WARMING;
  private long begun;
  private long checkedAt;
  private long measuredNanos;
  private long arrived;
  private int warmup;
  private int emptyEpochs;
  private int batchesOfEpoch;

  /** Batches taken since measuring began. */
  private long batches;

  private PhaseEvent workBefore = new PhaseEvent();
  private PhaseEvent work = new PhaseEvent();
  private double countedShare;
  private String reason = "";

  /**
   * @param requestedSteps steps to measure; 0: as many as fit into the measuring time
   * @param sleep sleeps for this many nanoseconds
   */
  EmulatedAccelerator(Plan plan, Accelerator accelerator, int requestedSteps, LongConsumer sleep) {
    super(plan, "an emulated accelerator, every item from storage");
    this.accelerator = accelerator;
    this.meeting = new Meeting(accelerator);
    this.requestedSteps = requestedSteps;
    this.sleep = sleep;
  }

  @Override
  void begin() {
    plan.begin();
    begun = plan.now();
    plan.items.from(ProfiledItems.From.STORAGE);
  }

  @Override
  Next get(BatchGet get) {
    // Preparation during this call does not count as a wait of the training thread.
    long token = Spans.enter(SpanKind.PRODUCER, null);
    try {
      return take(get);
    } catch (IOException e) {
      reason = "the instances cannot synchronise: " + e;
      return Next.DONE;
    } finally {
      Spans.exit(token, null);
    }
  }

  private Next take(BatchGet get) throws IOException {
    if (get.inHand == null) {
      get.advance();
      arrived = plan.now();
      batchesOfEpoch = 0;
      batches += 2; // The program got one before.
    }
    while (!advanceState()) {
      if (!get.hasMore()) {
        if (batchesOfEpoch < 2 && ++emptyEpochs >= MAX_EPOCHS) {
          reason = "an epoch has too few batches";
          return Next.DONE;
        }
        return Next.ANSWER;
      }
      sleep.accept(accelerator.stepNanos());
      Object dropped = get.inHand;
      int samples = 1;
      if (dropped != null) {
        samples = get.batches.samples(dropped);
        get.batches.drop(dropped);
      }
      get.advance();
      batches++;
      long now = plan.now();
      if (batchesOfEpoch++ > 0) { // As in MLPerf Storage, an epoch's first step is ignored.
        count(new Step(samples, now - arrived, new PhaseEvent()));
      }
      arrived = now;
    }
    return Next.DONE;
  }

  private void count(Step step) {
    switch (state) {
      case WARMING, WAITING -> warmup++;
      case MEASURING -> {
        steps.add(step);
        measuredNanos += step.nanos();
      }
      default -> { // The other instances are still measuring and need this load.
      }
    }
  }

  /** Advances to the next state if it is time; returns whether the stage has ended. */
  private boolean advanceState() throws IOException {
    long now = plan.now();
    switch (state) {
      case WARMING -> {
        if (now - begun >= (requestedSteps > 0 ? SHORT_NANOS : WARM_NANOS)
            || plan.isLate(warmup > 0, warmup)) {
          plan.warmedUp(warmup, true);
          meeting.arrive(WARM);
          become(State.WAITING, now);
        }
      }
      case WAITING -> {
        if (beginCheckIfDue(now) && meeting.isComplete(WARM)) {
          plan.warmedUp(warmup, true);
          batches = 0;
          workBefore = Gauge.reading(plan.spans);
          become(State.MEASURING, now);
        } else if (now - begun >= PATIENCE_NANOS) {
          reason = "not all of the " + accelerator.instances() + " instances arrived";
          return true;
        }
      }
      case MEASURING -> {
        boolean enough =
            requestedSteps > 0
                ? steps.size() >= requestedSteps
                : measuredNanos >= WINDOW_NANOS && steps.size() >= MIN_STEPS;
        if (enough || plan.isLate(!steps.isEmpty(), steps.size())) {
          work = Gauge.reading(plan.spans).since(workBefore);
          // Some batches belong to steps that are not measured.
          countedShare = Math.min(1, (double) steps.size() / Math.max(1, batches));
          meeting.arrive(MEASURED);
          become(State.STAYING, now);
        }
      }
      case STAYING -> {
        return now - begun >= PATIENCE_NANOS
            || (beginCheckIfDue(now) && meeting.isComplete(MEASURED));
      }
    }
    return false;
  }

  private void become(State next, long now) {
    state = next;
    begun = now;
    checkedAt = 0;
  }

  /** Limits the rate of checks, which list a directory; returns whether to check now. */
  private boolean beginCheckIfDue(long now) {
    if (checkedAt != 0 && now - checkedAt < CHECK_NANOS) {
      return false;
    }
    checkedAt = now;
    return true;
  }

  @Override
  void end() {
    if (reason.isEmpty() && steps.size() < 2) {
      reason = Gauge.tooFew(steps.size());
    }
    if (!reason.isEmpty()) {
      plan.results.notMeasured(PHASE, reason);
      return;
    }
    PhaseEvent event = new PhaseEvent();
    event.items = Math.round(countedShare * work.items);
    event.storageItems = Math.round(countedShare * work.storageItems);
    event.storageBytes = Math.round(countedShare * work.storageBytes);
    event.cpu = work.cpu;
    Estimate estimate = Estimate.of(steps);
    event.phase = PHASE;
    event.workers = plan.workers;
    event.steps = steps.size();
    event.samples = steps.stream().mapToLong(Step::samples).sum();
    event.wall = measuredNanos;
    event.compute = steps.size() * accelerator.stepNanos();
    event.sampleNanos = (double) measuredNanos / event.samples;
    event.sampleNanosError = estimate.error();
    event.steady = estimate.relativeError() <= 0.01;
    String access = plan.items.access();
    event.note = access.equals("direct") ? "" : access;
    plan.results.measured(event);
    plan.results.remark(
        Text.format(
            "accelerator: busy %.1f %% of the time with steps of %.3f ms",
            100.0 * event.compute / event.wall, accelerator.stepNanos() / 1e6));
  }
}
