package io.coordl.profile;

import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Measures ingestion: inserts steps with prepared batches. The program's iterator is not called
 * during these steps, so threads that prepare fill their queue and fall silent; steps count only
 * after that. The time to make a batch is not part of a step.
 */
final class Replay extends Turn {
  private static final int QUIET_STEPS = 4;
  private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final List<Batches.Kept> kept;
  private final SpanRecorder spans;
  private long begun;
  private long noise = -1;
  private long silentSince;
  private int silent;
  private boolean quiet;
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
    silentSince = begun;
    silent = 0;
    quiet = false;
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
    Batches.Kept chosen = kept.get(next++ % kept.size());
    long token = Spans.enter(SpanKind.TAKE, get.iterator);
    Object batch = null;
    String failure = "there is none";
    try {
      batch = chosen.make();
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
    if (isQuiet()) {
      work.clearStalls();
      work.compute = Math.max(0, get.sinceLast - work.checkpoint);
      gauge.add(new Step(used.samples(), get.sinceLast, work));
    }
  }

  private boolean isQuiet() {
    if (quiet) {
      return true;
    }
    long now = System.nanoTime();
    long sound = spans.preparers().batches() + spans.totals().snapshot().items;
    if (sound != noise || (spans.preparers().busy() > 0 && plan.workers == 0)) {
      noise = sound;
      silent = 0;
      silentSince = now;
    }
    silent++;
    quiet = silent >= QUIET_STEPS && now - silentSince >= QUIET_NANOS;
    if (!quiet && now - begun > MAX_NANOS) {
      quiet = true;
      note = "threads that prepare did not fall silent";
    }
    return quiet;
  }

  @Override
  void end() {
    if (plan.results.has(Plan.INGESTION, gauge, reason)) {
      plan.results.measured(gauge.event(Plan.INGESTION, plan.workers, note));
    }
  }
}
