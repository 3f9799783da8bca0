package io.coordl.attribution;

import io.coordl.advice.Figures;
import io.coordl.bridge.SpanKind;
import io.coordl.event.BatchEvent;
import io.coordl.event.CheckpointEvent;
import io.coordl.event.DataStallEvent;
import io.coordl.event.DecodeEvent;
import io.coordl.event.EpochEvent;
import io.coordl.event.EventSink;
import io.coordl.event.StepEvent;
import io.coordl.event.TransformEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * The open spans of one thread, and what follows from their nesting. Confined to its thread.
 *
 * <p>Time is counted once: a span's self time is its duration less that of the spans inside it. The
 * state between spans: the wait that is going on ({@code hasNext} and {@code next} together are one
 * wait), the batch being prepared, the passes begun, and the step since the batch taken last.
 */
final class ThreadSpans {
  private static final int MAX_HELD = 64;
  private static final long EVENT_PIECE_NANOS = 1_000_000;
  private static final SpanKind[] KINDS = SpanKind.values();

  private final SpanRecorder recorder;

  // The stack, as parallel arrays: a span allocates nothing.
  private SpanKind[] kinds = new SpanKind[32];
  private long[] starts = new long[32];
  private long[] children = new long[32];
  private @Nullable Object[] subjects = new @Nullable Object[32];
  private @Nullable Event[] frameEvents = new @Nullable Event[32];
  private @Nullable BatchRecord[] outerBatches = new @Nullable BatchRecord[32];
  private int depth;
  private final int[] open = new int[KINDS.length];

  private @Nullable BatchRecord building;
  private boolean training;

  private int waitDepth;
  private final WaitIntervals waits = new WaitIntervals();
  private long waitGc;
  private long gcBefore;
  private @Nullable DataStallEvent stallEvent;

  /** Of the pass that begins with this wait, if it does. */
  private @Nullable EpochEvent newEpoch;

  private @Nullable BatchRecord waitRecord;

  private final List<Pass> passes = new ArrayList<>();
  private @Nullable Pass stepping;
  private @Nullable Pass asking;
  private long stepStart;
  private boolean updates;
  private final ArrayDeque<Held> held = new ArrayDeque<>();

  /** A result that counts once the thread turns out to train. */
  private record Held(Pass pass, Runnable result) {}

  ThreadSpans(SpanRecorder recorder) {
    this.recorder = recorder;
  }

  boolean loadingSample() {
    return openSpans(SpanKind.SAMPLE, 0)
            + openSpans(SpanKind.BATCH, 0)
            + openSpans(SpanKind.PRODUCER, 0)
            + waitDepth
        > 0;
  }

  /** Whether a {@code next} called now would be a training thread's wait for a batch. */
  boolean isBatchGet() {
    return training
        && waitDepth == 0
        && openSpans(SpanKind.PRODUCER, 0) + openSpans(SpanKind.BATCH, 0) == 0;
  }

  long batchId() {
    return building == null ? 0 : building.id();
  }

  long enter(SpanKind kind, @Nullable Object subject) {
    long now = recorder.now();
    if (depth == kinds.length) {
      grow();
    }
    int at = depth++;
    kinds[at] = kind;
    starts[at] = now;
    children[at] = 0;
    subjects[at] = subject;
    frameEvents[at] = null;
    outerBatches[at] = building;
    boolean outermost = openSpans(kind, 1) == 1;
    switch (kind) {
      case FIT, COMPUTE -> trains();
      case UPDATE -> {
        trains();
        recorder.updated();
        updated();
      }
      case PRODUCER -> building = null;
      case BATCH -> beginBatch(now);
      case ASK, TAKE -> {
        if (openSpans(SpanKind.PRODUCER, 0) > 0 || openSpans(SpanKind.BATCH, 0) > 0) {
          // On a prefetch thread the iterator's next() is the preparation of a batch.
          if (kind == SpanKind.TAKE) {
            beginBatch(now);
          }
        } else if (waitDepth == 0) {
          waitDepth = at + 1;
          beginWait(subject, now);
        }
      }
      case PASS -> {
        if (waitDepth == 0 && subject != null) {
          endPassOf(subject, now);
        }
      }
      case DECODE, TRANSFORM, CHECKPOINT -> {
        if (outermost && recorder.recording()) {
          Event event =
              kind == SpanKind.DECODE
                  ? new DecodeEvent()
                  : kind == SpanKind.TRANSFORM ? new TransformEvent() : new CheckpointEvent();
          event.begin();
          frameEvents[at] = event;
        }
      }
      default -> {
        // SAMPLE, ASSEMBLE, CONVERT: only their time counts.
      }
    }
    return at + 1L;
  }

  void exit(long token, @Nullable Object result) {
    if (token > depth) {
      return; // Closed already, by an enclosing span that threw or by a change of the sink.
    }
    long now = recorder.now();
    while (depth > token) {
      pop(now, null);
    }
    pop(now, result);
  }

  /** A fetch of {@code nanos} happened inside the current span. */
  void fetch(long nanos) {
    if (depth > 0) {
      children[depth - 1] += nanos;
    }
    countFetch(nanos);
  }

  void itemFetched() {
    if (building != null) {
      building.addItem();
    }
  }

  private void countFetch(long nanos) {
    recorder.totals().fetchTime.add(nanos);
    if (building != null) {
      building.addFetch(nanos);
    }
  }

  private void pop(long now, @Nullable Object result) {
    int at = --depth;
    SpanKind kind = kinds[at];
    long duration = now - starts[at];
    long self = Math.max(0, duration - children[at]);
    Object subject = subjects[at];
    Event event = frameEvents[at];
    subjects[at] = null;
    frameEvents[at] = null;
    boolean outermost = openSpans(kind, -1) == 0;
    if (at > 0) {
      children[at - 1] += duration;
    }
    switch (kind) {
      case DECODE, CONVERT -> {
        recorder.totals().decodeTime.add(self);
        if (building != null) {
          building.addDecode(self);
        }
        if (outermost && kind == SpanKind.DECODE) {
          recorder.durations().record(Durations.Kind.DECODE, duration);
          if (event instanceof DecodeEvent decode) {
            decode.end();
            recorder
                .events()
                .emitNow(
                    sink -> {
                      if (sink.wants(decode)) {
                        decode.batch = batchId();
                        decode.codec = nameOf(subject);
                        sink.write(decode, now - duration, now);
                      }
                    });
          }
        }
      }
      case TRANSFORM -> {
        recorder.totals().transformTime.add(self);
        if (building != null) {
          building.addTransform(self);
        }
        if (outermost) {
          recorder.durations().record(Durations.Kind.TRANSFORM, duration);
          if (event instanceof TransformEvent transform) {
            transform.end();
            recorder
                .events()
                .emitNow(
                    sink -> {
                      if (sink.wants(transform)) {
                        transform.batch = batchId();
                        transform.transform = nameOf(subject);
                        sink.write(transform, now - duration, now);
                      }
                    });
          }
        }
      }
      case SAMPLE, ASSEMBLE -> {
        if (building == null) { // Inside a batch it is part of that batch's rest.
          recorder.totals().otherTime.add(self);
        }
      }
      case BATCH -> endBatch(at, now, subject, result);
      case ASK, TAKE -> {
        if (waitDepth == at + 1) {
          waitDepth = 0;
          waits.add(starts[at], now);
          waitGc += Math.max(0, recorder.gcNanos() - gcBefore);
          if (kind == SpanKind.ASK) {
            asked(now, subject, result);
          } else {
            taken(now, subject, result);
          }
        } else if (kind == SpanKind.TAKE && waitDepth == 0) {
          endBatch(at, now, subject, result);
        }
      }
      case CHECKPOINT -> {
        if (outermost) {
          checkpoint(now, duration, subject, event);
        }
      }
      case PRODUCER -> building = outerBatches[at];
      default -> {
        // FIT, COMPUTE, UPDATE, PASS: marks only.
      }
    }
    outerBatches[at] = null;
  }

  /** Open spans of a kind, after adding {@code change}. */
  @SuppressWarnings("EnumOrdinal") // An array is what makes a span cost nanoseconds.
  private int openSpans(SpanKind kind, int change) {
    return open[kind.ordinal()] += change;
  }

  private void grow() {
    int size = kinds.length * 2;
    kinds = Arrays.copyOf(kinds, size);
    starts = Arrays.copyOf(starts, size);
    children = Arrays.copyOf(children, size);
    subjects = Arrays.copyOf(subjects, size);
    frameEvents = Arrays.copyOf(frameEvents, size);
    outerBatches = Arrays.copyOf(outerBatches, size);
  }

  // ---- preparation

  private void beginBatch(long now) {
    boolean nested =
        openSpans(SpanKind.BATCH, 0) + openSpans(SpanKind.TAKE, 0) > 1 && building != null;
    if (!nested || (waitDepth > 0 && isBuiltByWait())) {
      building = newRecord(now);
      if (waitDepth == 0) {
        recorder.preparing(building);
      }
    }
  }

  /** Whether the batch being built was begun by the wait itself, for want of a better beginning. */
  private boolean isBuiltByWait() {
    return building != null && building == waitRecord;
  }

  private BatchRecord newRecord(long now) {
    BatchRecord record = new BatchRecord(recorder::nextBatchId, now);
    record.begin(recorder.recording() ? new BatchEvent() : null);
    return record;
  }

  private void endBatch(int at, long now, @Nullable Object subject, @Nullable Object result) {
    BatchRecord record = building;
    BatchRecord outer = outerBatches[at];
    if (record == null || record == outer) {
      return; // A next() inside a next(): the outermost is the batch.
    }
    building = outer;
    recorder.prepared(record);
    if (result != null) {
      finish(record, now, subject);
      recorder.recent().put(result, record);
    }
  }

  private void finish(BatchRecord record, long now, @Nullable Object source) {
    record.finish(now, source, recorder);
    recorder.totals().otherTime.add(record.other());
    recorder.durations().record(Durations.Kind.BATCH, record.end() - record.start());
  }

  // ---- waits and steps

  private void beginWait(@Nullable Object subject, long now) {
    endStep(now);
    gcBefore = recorder.gcNanos();
    if (waits.isEmpty()) {
      waitRecord = newRecord(now);
      building = waitRecord;
      if (recorder.recording()) {
        stallEvent = new DataStallEvent();
        stallEvent.begin();
        if (subject != null && findPass(subject) == null) {
          newEpoch = new EpochEvent();
          newEpoch.begin();
        }
      }
    }
  }

  private void asked(long now, @Nullable Object subject, @Nullable Object answer) {
    if (answer instanceof Boolean more && !more && subject != null) {
      Pass pass = findPass(subject);
      tookNothing(now, subject);
      if (pass != null) {
        endPass(pass, true, now);
      }
    } else if (asking != null) {
      // What it does before it takes the batch (DL4J's ParallelWrapper: wait for its workers) still
      // belongs to the step.
      stepping = asking;
      stepStart = now;
    }
    asking = null;
  }

  /** A wait that ended without a batch: there is no other, or {@code next} threw. */
  private void tookNothing(long now, @Nullable Object subject) {
    Pass pass = subject == null ? null : findPass(subject);
    StallShares shares = StallShares.queueing(waits.total());
    long start = waits.isEmpty() ? now : waits.start();
    clearWait();
    if (pass != null) {
      pass.totals.addStall(shares);
      whenTraining(
          pass,
          () -> {
            Totals part = new Totals();
            part.addStall(shares);
            recorder.totals().add(part);
            recorder.totals().seen(start, now);
          });
    }
  }

  private void taken(long now, @Nullable Object subject, @Nullable Object batch) {
    BatchRecord mine = building;
    DataStallEvent event = stallEvent;
    long wait = waits.total();
    long start = waits.start();
    EpochEvent begun = newEpoch;
    long gc = waitGc;
    if (batch == null || subject == null || mine == null) {
      tookNothing(now, subject);
      return;
    }
    BatchRecord made = recorder.recent().take(batch);
    if (made == null) {
      // Nobody else prepared it: it was prepared here, while the thread waited.
      finish(mine, now, subject);
      made = mine;
      if (!training) {
        recorder.recent().put(batch, mine);
      }
    }
    Pass pass = passOf(subject, start, begun);
    StallShares shares = StallShares.of(waits, gc, made);
    clearWait();
    pass.totals.batches++;
    pass.totals.addStall(shares);
    closeStep(pass);
    pass.openBatch = made.id();
    if (event != null) {
      event.end();
    }
    BatchRecord batchTaken = made;
    whenTraining(
        pass,
        () -> {
          recorder.durations().record(Durations.Kind.STALL, wait);
          Totals part = new Totals();
          part.batches = 1;
          part.addStall(shares);
          recorder.totals().add(part);
          recorder.totals().seen(start, now);
          long epoch = numberOf(pass);
          recorder
              .events()
              .emit(sink -> write(sink, event, batchTaken.id(), epoch, shares, start, now));
        });
    beginStep(pass, recorder.now());
  }

  private static void write(
      EventSink sink,
      @Nullable DataStallEvent begun,
      long batch,
      long epoch,
      StallShares shares,
      long start,
      long end) {
    DataStallEvent event = begun == null ? new DataStallEvent() : begun;
    if (sink.wants(event)) {
      event.batch = batch;
      event.epoch = epoch;
      event.wait = shares.total();
      event.fetch = shares.fetch();
      event.prep = shares.prep();
      event.gc = shares.gc();
      event.queue = shares.queue();
      sink.write(event, start, end);
    }
  }

  private void clearWait() {
    waits.clear();
    waitGc = 0;
    stallEvent = null;
    newEpoch = null;
    building = null;
    waitRecord = null;
  }

  private void beginStep(Pass pass, long now) {
    stepping = pass;
    stepStart = now;
    pass.stepBegun = now;
    pass.stepEnded = now;
    if (recorder.recording()) {
      pass.stepEvent = new StepEvent();
      pass.stepEvent.begin();
    }
  }

  /** The thread asks again: what it did since it took the last batch was (part of) the step. */
  private void endStep(long now) {
    Pass pass = stepping;
    if (pass == null) {
      return;
    }
    stepping = null;
    asking = pass;
    long compute = Math.max(0, now - stepStart - pass.pieceCheckpoint);
    pass.stepCheckpoint += pass.pieceCheckpoint;
    pass.pieceCheckpoint = 0;
    pass.stepNanos += compute;
    pass.totals.compute += compute;
    StepEvent event = pass.stepEvent;
    if (pass.stepEnded == pass.stepBegun || compute >= EVENT_PIECE_NANOS) {
      pass.stepEnded = now;
      if (event != null) {
        event.end();
      }
    }
    whenTraining(
        pass,
        () -> {
          Totals part = new Totals();
          part.compute = compute;
          recorder.totals().add(part);
          recorder.totals().seen(now, now);
        });
  }

  /** The next batch is taken, or the pass is over: all pieces of the step are known. */
  private void closeStep(Pass pass) {
    if (pass.openBatch == 0) {
      return;
    }
    long batch = pass.openBatch;
    long compute = pass.stepNanos;
    long checkpoint = pass.stepCheckpoint;
    StepEvent begun = pass.stepEvent;
    long start = pass.stepBegun;
    long end = pass.stepEnded;
    pass.openBatch = 0;
    pass.stepNanos = 0;
    pass.stepCheckpoint = 0;
    pass.stepEvent = null;
    whenTraining(
        pass,
        () -> {
          recorder.durations().record(Durations.Kind.STEP, compute);
          long epoch = numberOf(pass);
          recorder
              .events()
              .emit(
                  sink -> {
                    StepEvent event = begun == null ? new StepEvent() : begun;
                    if (sink.wants(event)) {
                      event.batch = batch;
                      event.epoch = epoch;
                      event.compute = compute;
                      event.checkpoint = checkpoint;
                      sink.write(event, start, end);
                    }
                  });
        });
  }

  private void checkpoint(
      long now, long duration, @Nullable Object subject, @Nullable Event event) {
    if (stepping != null) {
      stepping.pieceCheckpoint += duration;
      stepping.totals.checkpoint += duration;
    }
    recorder.durations().record(Durations.Kind.CHECKPOINT, duration);
    Totals part = new Totals();
    part.checkpoint = duration;
    recorder.totals().add(part);
    recorder.totals().wrote(now - duration, now);
    if (event instanceof CheckpointEvent done) {
      done.end();
      recorder
          .events()
          .emitNow(
              sink -> {
                if (sink.wants(done)) {
                  done.model = nameOf(subject);
                  sink.write(done, now - duration, now);
                }
              });
    }
  }

  // ---- passes

  private Pass passOf(Object subject, long start, @Nullable EpochEvent begun) {
    Pass pass = findPass(subject);
    if (pass == null) {
      pass = new Pass(subject, start, recorder.updates(), begun);
      // The pass used last may be an epoch that a validation interrupts; those before it were left
      // by a break or an exception, or they would have been used since.
      for (Pass other : List.copyOf(passes.subList(0, Math.max(0, passes.size() - 1)))) {
        endPass(other, false, start);
      }
    } else {
      passes.remove(pass);
    }
    passes.add(pass);
    return pass;
  }

  /** The job ends: what is still open is written as it stands. By the thread that ends the job. */
  void finish(long now) {
    endStep(now);
    for (Pass pass : List.copyOf(passes)) {
      endPass(pass, false, now);
    }
  }

  private @Nullable Pass findPass(Object subject) {
    for (Pass pass : passes) {
      if (pass.isOf(subject)) {
        return pass;
      }
    }
    return null;
  }

  private void endPassOf(Object subject, long now) {
    Pass pass = findPass(subject);
    if (pass != null) {
      if (stepping == pass) {
        endStep(now);
      }
      endPass(pass, false, now);
    }
  }

  private void endPass(Pass pass, boolean complete, long now) {
    passes.remove(pass);
    recorder.passEnded();
    if (!training) {
      // A pass before the training (statistics for a normaliser, a look at the first batch) or a
      // thread that only loads: no epoch, and its waits are nobody's stall.
      held.removeIf(waiting -> waiting.pass() == pass);
      if (stepping == pass) {
        stepping = null;
      }
      return;
    }
    closeStep(pass);
    numberOf(pass);
    if (!updates) {
      // Other threads may update the model for this one, as DL4J's ParallelWrapper has them do.
      trained(pass, recorder.updates() - pass.updatesBefore);
    }
    Figures figures =
        recorder
            .totals()
            .passEnded(pass.updates > 0, pass.source(), complete, now - pass.start, pass.totals);
    pass.finish(complete, now, figures, recorder);
    recorder.durations().epochEnded(pass.epoch);
    // A validation inside an epoch is over: the step it interrupted goes on.
    Pass outer = passes.isEmpty() ? null : passes.get(passes.size() - 1);
    if (outer != null && outer.openBatch != 0 && stepping == null) {
      stepping = outer;
      stepStart = now;
    }
  }

  /** A step updates the model, which makes an epoch of the pass that its batch is from. */
  private void updated() {
    updates = true;
    if (stepping != null) {
      trained(stepping, 1);
    } else if (!passes.isEmpty()) {
      trained(passes.get(passes.size() - 1), 1);
    }
  }

  private void trained(Pass pass, long times) {
    if (pass.updates == 0 && times > 0) {
      recorder.totals().epochBegan();
    }
    pass.updates += times;
  }

  private long numberOf(Pass pass) {
    if (pass.epoch == 0) {
      pass.epoch = recorder.totals().nextEpoch();
    }
    return pass.epoch;
  }

  // ---- training threads

  private void trains() {
    if (!training) {
      training = true;
      recorder.trains(this);
      Held next;
      while ((next = held.poll()) != null) {
        next.result().run();
      }
    }
  }

  private void whenTraining(Pass pass, Runnable result) {
    if (training) {
      result.run();
    } else if (held.size() < MAX_HELD) {
      held.add(new Held(pass, result));
    }
  }

  private static @Nullable String nameOf(@Nullable Object subject) {
    if (subject == null) {
      return null;
    }
    return subject instanceof Class<?> type ? type.getName() : subject.getClass().getName();
  }
}
