package io.coordl.profile;

import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Measures ingestion: inserts steps with prepared batches. The program's iterator is not called
 * during these steps, so preparing threads fill their queue and go idle; only later steps are
 * measured. The time to create a batch is not part of a step.
 */
final class Replay extends AlternatingStage {
  private static final int IDLE_STEPS = 4;
  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final List<Batches.Kept> kept;
  private final SpanRecorder spans;
  private long begun;
  private long lastActivity = -1;
  private long idleSince;
  private int idleSteps;
  private boolean idle;
  private boolean stepping;
  private String note = "";
  private int next;
  private PhaseEvent before = new PhaseEvent();

  Replay(Plan plan, List<Batches.Kept> kept) {
    super(plan, "ingestion, prepared batches replayed", plan.gauge(1));
    this.kept = List.copyOf(kept);
    this.spans = plan.spans;
  }

  @Override
  void begin() {
    resume();
  }

  @Override
  void resume() {
    begun = System.nanoTime();
    idleSince = begun;
    idleSteps = 0;
    idle = false;
  }

  @Override
  void pause() {
    stepping = false;
  }

  @Override
  Next get(BatchGet get) {
    if (stepping) {
      stepped(get);
      stepping = false;
      if (isTurnOver()) {
        return Next.DONE;
      }
    }
    Batches.Kept copy = kept.get(next++ % kept.size());
    long token = Spans.enter(SpanKind.TAKE, get.iterator);
    Object batch = null;
    String failure = "none was returned";
    try {
      batch = copy.make();
    } catch (Exception | LinkageError e) {
      failure = e.toString();
    } finally {
      Spans.exit(token, batch);
    }
    if (batch == null) {
      giveUp("a batch cannot be made from bytes: " + failure);
      return Next.DONE;
    }
    before = Gauge.reading(spans);
    get.inHand = batch;
    stepping = true;
    return Next.ANSWER;
  }

  private void stepped(BatchGet get) {
    Batches.Kept used = kept.get((next - 1) % kept.size());
    PhaseEvent work = Gauge.reading(spans).since(before);
    if (updateIdle()) {
      work.clearStalls();
      work.compute = Math.max(0, get.sinceLast - work.checkpoint);
      gauge.add(new Step(used.samples(), get.sinceLast, work));
    }
  }

  /** Counts a step; returns whether preparing threads are idle, or take too long to become so. */
  private boolean updateIdle() {
    if (idle) {
      return true;
    }
    long now = System.nanoTime();
    long activity = spans.preparers().batches() + spans.totals().snapshot().items;
    if (activity != lastActivity || (spans.preparers().busy() > 0 && plan.workers == 0)) {
      lastActivity = activity;
      idleSteps = 0;
      idleSince = now;
    }
    idleSteps++;
    idle = idleSteps >= IDLE_STEPS && now - idleSince >= IDLE_NANOS;
    if (!idle && now - begun > MAX_NANOS) {
      idle = true;
      note = "the threads that prepare batches did not become idle";
    }
    return idle;
  }

  @Override
  void end() {
    if (plan.results.closeOrReport(Plan.INGESTION, gauge, reason)) {
      plan.results.measured(gauge.event(Plan.INGESTION, plan.workers, note));
    }
  }
}
