package io.coordl.telemetry.attribution;

import io.coordl.bridge.SpanKind;
import io.coordl.host.AgentThread;
import io.coordl.telemetry.attribution.WaitIntervals.DataSetWait;
import io.coordl.telemetry.event.CheckpointEvent;
import io.coordl.telemetry.event.DataStallEvent;
import io.coordl.telemetry.event.DecodeEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.StepEvent;
import io.coordl.telemetry.event.TransformEvent;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * The open spans of one thread, and the figures that follow from their nesting. Confined to its
 * thread, except for {@link #openWait} and {@link #finish}.
 *
 * <p>Time is counted once: a span's self time is its duration less that of the spans inside it. The
 * state between spans is the current wait ({@code hasNext} and {@code next} together are one wait),
 * the batch being prepared, the open epochs, and the current step.
 */
final class ThreadSpans {
  private static final int MAX_HELD = 64;
  private static final long EVENT_PIECE_NANOS = 1_000_000;

  /** Minimum time between two readings of a thread's core figures; each takes 10 us of CPU. */
  private static final long CORES_NANOS = 4_000_000;

  /** Shortest preparation of a data set that counts; most data sets have nothing to prepare. */
  private static final long DATA_SET_NANOS = 1_000_000;

  private static final SpanKind[] KINDS = SpanKind.values();

  private final SpanRecorder recorder;

  // The stack, as parallel arrays: a frame allocates nothing.
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
  private DataStallEvent stall = new DataStallEvent();

  /** Event of the epoch that begins with this wait, if one does. */
  private @Nullable EpochEvent newEpoch;

  private @Nullable BatchRecord waitRecord;

  /** Depth of the open span that prepares a data set for the next epoch; 0 if there is none. */
  private int dataSetDepth;

  /** Whether the image of the outermost open decoding came from memory. */
  private boolean reused;

  /** When the preparation of a data set ended, if the next wait begins with it; else 0. */
  private long dataSetEnded;

  /** Part of the current wait in which a data set was prepared, before a batch was requested. */
  private DataSetWait dataSet = DataSetWait.NONE;

  /** Self time of the data set's preparation without fetching, decoding and transforms. */
  private long dataSetOther;

  private final List<OpenEpoch> epochs = new ArrayList<>();
  private @Nullable OpenEpoch stepping;
  private @Nullable OpenEpoch asking;
  private long stepStart;
  private boolean updates;

  /** Whether the number of epochs of the current loop is known. */
  private boolean planned;

  private final ArrayDeque<Held> held = new ArrayDeque<>();

  /** This thread's wait for a core at the last reading, and the time of that reading; 0 before. */
  private long coreWait;

  private long coresRead;

  /** Time of the steps and of the waits since that reading. */
  private long steppedSince;

  private long waitedSince;

  // Read by other threads.

  private final WeakReference<Thread> owner = new WeakReference<>(Thread.currentThread());

  /**
   * Since when this thread has waited for a batch, including earlier calls for it; 0 if it does not
   * wait.
   */
  private volatile long waiting;

  /** File of the data set that this thread opened last; null before. */
  private volatile @Nullable String file;

  /** A result that counts only once the thread turns out to train. */
  private record Held(OpenEpoch epoch, Runnable result) {}

  ThreadSpans(SpanRecorder recorder) {
    this.recorder = recorder;
  }

  /** Records that this thread opens a file of the data set. */
  void opened(String path) {
    file = path;
  }

  /**
   * Returns the wait that this thread is in; null if there is none. Any thread may call this.
   *
   * @param last the thread that opened a file last
   */
  @Nullable OpenWait openWait(long now, @Nullable ThreadSpans last) {
    long since = waiting;
    Thread thread = owner.get();
    return since == 0 || thread == null || !thread.isAlive()
        ? null
        : new OpenWait(
            thread,
            since,
            Math.max(0, now - since),
            recorder.longestWait.get(),
            last == null ? null : last.file,
            last == null ? null : last.owner.get());
  }

  boolean loadingSample() {
    return openSpans(SpanKind.SAMPLE)
            + openSpans(SpanKind.BATCH)
            + openSpans(SpanKind.PRODUCER)
            + waitDepth
        > 0;
  }

  /** Whether a {@code next} called now would be a training thread's wait for a batch. */
  boolean isBatchGet() {
    return training
        && waitDepth == 0
        && openSpans(SpanKind.PRODUCER) + openSpans(SpanKind.BATCH) == 0;
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
    boolean outermost = addOpen(kind, 1) == 1;
    switch (kind) {
      case FIT -> {
        trains();
        long plannedEpochs = outermost && subject != null ? recorder.epochs(subject) : 0;
        if (plannedEpochs > 1) {
          planned = true;
          recorder.totals.beginLoop(plannedEpochs, now);
        }
      }
      case COMPUTE -> trains();
      case UPDATE -> {
        trains();
        if (outermost) {
          recorder.updates.increment();
          updated(recorder.layers.step(subject));
        }
      }
      case COLLECTION -> recorder.totals.countExplicitGc(String.valueOf(subject));
      case SKIPPED -> {
        if (subject instanceof Integer whole) {
          recorder.totals.skipped(whole);
        } else if (stepping != null) {
          stepping.skips = true;
        }
      }
      case PRODUCER -> building = null;
      case BATCH -> beginBatch(now);
      case ASK, TAKE -> {
        if (openSpans(SpanKind.PRODUCER) > 0 || openSpans(SpanKind.BATCH) > 0) {
          // On a prefetch thread the iterator's next() is the preparation of a batch.
          if (kind == SpanKind.TAKE) {
            beginBatch(now);
          }
        } else if (waitDepth == 0) {
          waitDepth = at + 1;
          beginWait(subject, now);
          waiting = Math.max(1, now - waits.total + dataSet.nanos());
          WaitListener listener = training ? recorder.listener : null;
          if (listener != null) {
            listener.waitBegins(subject);
          }
        }
      }
      case EPOCH -> {
        if (waitDepth == 0 && subject != null) {
          endEpochOf(subject, now);
        }
      }
      case DATA_SET -> {
        boolean inBatch = waitDepth + openSpans(SpanKind.PRODUCER) + openSpans(SpanKind.BATCH) > 0;
        if (outermost && !inBatch) {
          dataSetDepth = at + 1;
          beginWait(subject, now);
        }
      }
      case REUSED -> reused = true;
      case DECODE, TRANSFORM, CHECKPOINT -> {
        reused &= !(outermost && kind == SpanKind.DECODE);
        if (outermost && recorder.events.isOpen()) {
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

  /** Counts a fetch of {@code nanos} nanoseconds inside the current span. */
  void fetch(long nanos) {
    if (depth > 0) {
      children[depth - 1] += nanos;
    }
    if (building != null) {
      building.event.fetch += nanos;
    } else {
      recorder.totals.fetchTime.add(nanos);
    }
  }

  void itemFetched() {
    if (building != null) {
      building.event.items++;
    }
  }

  /**
   * Closes the innermost span.
   *
   * @param answer what the span's method returned or threw; null if nothing or unknown
   */
  private void pop(long now, @Nullable Object answer) {
    Throwable thrown = answer instanceof Throwable exception ? exception : null;
    Object result = thrown == null ? answer : null;
    int at = --depth;
    SpanKind kind = kinds[at];
    long duration = now - starts[at];
    long self = Math.max(0, duration - children[at]);
    Object subject = subjects[at];
    Event event = frameEvents[at];
    subjects[at] = null;
    frameEvents[at] = null;
    boolean outermost = addOpen(kind, -1) == 0;
    if (at > 0) {
      children[at - 1] += duration;
    }
    switch (kind) {
      case DECODE, CONVERT -> {
        if (building != null) {
          building.event.decode += self;
        } else {
          recorder.totals.decodeTime.add(self);
        }
        if (outermost && kind == SpanKind.DECODE && !reused) {
          recorder.decodes.increment();
          if (subject instanceof Class<?>) {
            recorder.decodesByProgram.increment();
          }
          ended(Durations.Kind.DECODE, now, duration, subject, event);
        }
      }
      case TRANSFORM -> {
        if (building != null) {
          building.event.transform += self;
        } else {
          recorder.totals.transformTime.add(self);
        }
        if (outermost) {
          ended(Durations.Kind.TRANSFORM, now, duration, subject, event);
        }
      }
      case SAMPLE, ASSEMBLE -> {
        if (building == null) { // Inside a batch it is part of that batch's other time.
          recorder.totals.otherTime.add(self);
        }
      }
      case BATCH -> endBatch(at, now, subject, result);
      case ASK, TAKE -> {
        if (waitDepth == at + 1) {
          waitDepth = 0;
          waiting = 0;
          waits.add(starts[at], now);
          waitGc += Math.max(0, recorder.gcNanos() - gcBefore);
          if (isFailure(thrown)) {
            failed(now, subject);
          } else if (kind == SpanKind.ASK) {
            asked(now, subject, result);
          } else {
            taken(now, subject, result);
          }
          WaitListener listener = recorder.listener;
          if (listener != null) {
            listener.waitEnds(result);
          }
        } else if (kind == SpanKind.TAKE && waitDepth == 0) {
          endBatch(at, now, subject, result);
        }
      }
      case CHECKPOINT -> {
        if (outermost && !(Thread.currentThread() instanceof AgentThread)) {
          checkpoint(now, duration, subject, event);
        }
      }
      case PRODUCER -> building = outerBatches[at];
      case DATA_SET -> {
        if (dataSetDepth == at + 1) {
          dataSetDepth = 0;
          endDataSet(starts[at], now);
        }
      }
      case FIT -> {
        if (outermost && planned) {
          planned = false;
          recorder.totals.endLoop();
        }
      }
      default -> {
        // COMPUTE, UPDATE, SKIPPED, COLLECTION, EPOCH, REUSED: marks only.
      }
    }
    outerBatches[at] = null;
  }

  /** Records how long a span took, and writes its event if a recording ran when the span began. */
  private void ended(
      Durations.Kind kind,
      long now,
      long duration,
      @Nullable Object subject,
      @Nullable Event event) {
    recorder.durations.record(kind, duration);
    if (event == null) {
      return;
    }
    event.end();
    if (event instanceof DecodeEvent decode) {
      decode.batch = batchId();
      decode.codec = nameOf(subject);
    } else if (event instanceof TransformEvent transform) {
      transform.batch = batchId();
      transform.transform = nameOf(subject);
    } else if (event instanceof CheckpointEvent checkpoint) {
      checkpoint.model = nameOf(subject);
    }
    recorder.events.write(event, now - duration, now);
  }

  @SuppressWarnings("EnumOrdinal") // An array keeps the cost of a span at nanoseconds.
  private int openSpans(SpanKind kind) {
    return open[kind.ordinal()];
  }

  /** Adds {@code change} to the number of open spans of a kind; returns the new number. */
  @SuppressWarnings("EnumOrdinal") // As above.
  private int addOpen(SpanKind kind, int change) {
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
    boolean nested = openSpans(SpanKind.BATCH) + openSpans(SpanKind.TAKE) > 1 && building != null;
    if (!nested || (waitDepth > 0 && isBuiltByWait())) {
      building = newRecord(now);
      if (waitDepth == 0) {
        building.ahead = true;
        recorder.preparers.begin();
        if (coresRead == 0) {
          readCoreWait(now);
        }
      }
    }
  }

  /** Whether the batch being built began with the wait, because no span had begun it. */
  private boolean isBuiltByWait() {
    return building != null && building == waitRecord;
  }

  private BatchRecord newRecord(long now) {
    return new BatchRecord(recorder.batchIds, now, recorder.gcNanos());
  }

  private void endBatch(int at, long now, @Nullable Object subject, @Nullable Object result) {
    BatchRecord record = building;
    BatchRecord outer = outerBatches[at];
    if (record == null || record == outer) {
      return; // A next() inside a next(): only the outermost call makes a batch.
    }
    building = outer;
    if (record.ahead) {
      recorder.preparers.end();
      if (!training) {
        record.event.coreWait = Math.min(readCoreWait(now), now - record.start);
      }
    } else if (waitDepth > 0 && steppedSince == 0) {
      record.event.coreWait = Math.min(readCoreWait(now), now - record.start);
    }
    if (result != null) {
      finish(record, now, subject, result);
      recorder.recent.put(result, record);
    } else {
      record.count(recorder.totals);
    }
  }

  private void finish(BatchRecord record, long now, @Nullable Object source, Object batch) {
    record.finish(now, source, batch, recorder);
    recorder.durations.record(Durations.Kind.BATCH, record.end - record.start);
  }

  // ---- cores

  /**
   * Reads how long this thread waited for a core since the last reading. Returns 0 at the first
   * reading, and without reading if the last one is less than {@link #CORES_NANOS} old.
   */
  private long readCoreWait(long now) {
    boolean first = coresRead == 0;
    if (!first && now - coresRead < CORES_NANOS) {
      return 0;
    }
    long before = coreWait;
    coreWait = recorder.cores.ofThread();
    coresRead = now;
    return first ? 0 : Math.max(0, coreWait - before);
  }

  /**
   * Divides the time for which this training thread has waited for a core since the last reading
   * between its steps and its waits for batches; returns the part in waits for batches.
   *
   * @param epoch epoch of the steps; null before its first batch
   */
  private long divideCoreWait(@Nullable OpenEpoch epoch, long now) {
    long waited = readCoreWait(now);
    if (coresRead != now) {
      return 0;
    }
    long both = Math.max(1, steppedSince + waitedSince);
    long inSteps = Math.min(steppedSince, Math.round((double) waited * steppedSince / both));
    long inWaits = Math.min(waitedSince, waited - inSteps);
    steppedSince = 0;
    waitedSince = 0;
    if (inSteps > 0 && epoch != null) {
      epoch.event.computeCoreWait += inSteps;
      StepEvent step = epoch.step;
      if (step != null) {
        step.coreWait = Math.min(step.compute, step.coreWait + inSteps);
      }
      whenTraining(epoch, () -> recorder.totals.count(job -> job.computeCoreWait += inSteps));
    }
    return inWaits;
  }

  // ---- waits and steps

  /**
   * Ends the preparation of a data set. The first wait of the data set's epoch includes it, if the
   * loop then immediately requests a batch.
   */
  private void endDataSet(long start, long now) {
    waits.add(start, now);
    waitGc += Math.max(0, recorder.gcNanos() - gcBefore);
    if (asking != null) { // A validation inside an epoch, whose step continues.
      stepping = asking;
      stepStart = now;
      asking = null;
    }
    BatchRecord record = waitRecord;
    if (record == null || waits.total < DATA_SET_NANOS) {
      clearWait(); // Without a record, a loop over batches within the preparation has counted it.
    } else {
      dataSetEnded = now;
      dataSet = new DataSetWait(dataSet.nanos() + now - start, record.event.fetch, now);
      dataSetOther = Math.max(0, dataSet.nanos() - waitGc - record.workTime());
      building = null;
    }
  }

  private void beginWait(@Nullable Object subject, long now) {
    endStep(now);
    if (dataSetEnded != 0) {
      if (now - dataSetEnded > DATA_SET_NANOS + waits.total / 10) {
        clearWait(); // The program had other things to do first.
      }
      dataSetEnded = 0;
      building = waitRecord;
    }
    if (coresRead == 0) {
      readCoreWait(now);
    }
    gcBefore = recorder.gcNanos();
    if (waits.isEmpty()) {
      waitRecord = newRecord(now);
      building = waitRecord;
      stall = new DataStallEvent();
      stall.begin();
      if (subject != null && find(subject) == null) {
        newEpoch = new EpochEvent();
        newEpoch.begin();
      }
    }
  }

  private void asked(long now, @Nullable Object subject, @Nullable Object answer) {
    if (answer instanceof Boolean more && !more && subject != null) {
      OpenEpoch epoch = find(subject);
      tookNothing(now, subject);
      if (epoch != null) {
        end(epoch, true, now);
      }
    } else if (asking != null) {
      // Work between asking for and taking a batch (DL4J's ParallelWrapper waits for its workers)
      // still belongs to the step.
      stepping = asking;
      stepStart = now;
    }
    asking = null;
  }

  /** Whether a request failed. A NoSuchElementException is no failure: it may end a loop. */
  private static boolean isFailure(@Nullable Throwable thrown) {
    return thrown != null && !(thrown instanceof NoSuchElementException);
  }

  private void failed(long now, @Nullable Object subject) {
    OpenEpoch epoch = subject == null ? null : find(subject);
    tookNothing(now, subject);
    asking = null;
    if (epoch != null) {
      epoch.event.failedBatches++;
      whenTraining(epoch, () -> recorder.totals.count(job -> job.failedBatches++));
    } else if (training) {
      recorder.totals.count(job -> job.failedBatches++);
    }
  }

  /** Ends a wait without a batch: there are no more, or {@code next} threw. */
  private void tookNothing(long now, @Nullable Object subject) {
    OpenEpoch epoch = subject == null ? null : find(subject);
    DataStallEvent wait = stall;
    waits.divide(wait, waitGc, null, dataSet, false);
    long start = waits.isEmpty() ? now : waits.start();
    if (waitRecord != null) {
      waitRecord.count(recorder.totals);
    }
    clearWait();
    if (epoch != null) {
      epoch.event.addStall(wait);
      whenTraining(
          epoch,
          () -> {
            recorder.totals.count(job -> job.addStall(wait));
            recorder.totals.recordActivity(start, now, recorder.gcNanos());
          });
    }
  }

  private void taken(long now, @Nullable Object subject, @Nullable Object batch) {
    BatchRecord mine = building;
    DataStallEvent wait = stall;
    long start = waits.start();
    EpochEvent newEvent = newEpoch;
    if (batch == null || subject == null || mine == null) {
      tookNothing(now, subject);
      return;
    }
    waitedSince += waits.total;
    long coreWait = divideCoreWait(find(subject), now);
    BatchRecord made = recorder.recent.take(batch);
    if (made == null) {
      // No other thread prepared it, so this one did during the wait.
      mine.event.coreWait = coreWait;
      finish(mine, now, subject, batch);
      made = mine;
      if (!training) {
        recorder.recent.put(batch, mine);
      }
    } else {
      if (!made.ahead) {
        mine.event.coreWait = coreWait;
      }
      mine.count(recorder.totals); // Other work on this thread, such as a preprocessor.
      recorder.totals.otherTime.add(dataSetOther);
    }
    boolean begins = find(subject) == null;
    OpenEpoch epoch = epochOf(subject, start, newEvent);
    waits.divide(wait, waitGc, made, dataSet, made == mine);
    long asked = wait.wait - dataSet.nanos();
    clearWait();
    long samples = made.event.samples;
    epoch.event.addBatch(samples);
    epoch.event.addStall(wait);
    closeStep(epoch);
    wait.batch = made.id();
    wait.end();
    if (!training) {
      recorder.totals.loaded(this, start, now, begins, samples, wait);
    }
    whenTraining(
        epoch,
        () -> {
          recorder.durations.record(Durations.Kind.STALL, wait.wait);
          recorder.longestWait.accumulate(asked);
          recorder.totals.count(
              job -> {
                job.addBatch(samples);
                job.addStall(wait);
              });
          recorder.totals.recordActivity(start, now, mine.gcBefore);
          wait.epoch = numberOf(epoch);
          recorder.events.write(wait, start, now);
        });
    beginStep(epoch, made.id(), recorder.now());
  }

  private void clearWait() {
    waits.clear();
    dataSet = DataSetWait.NONE;
    dataSetOther = 0;
    waitGc = 0;
    newEpoch = null;
    building = null;
    waitRecord = null;
  }

  private void beginStep(OpenEpoch epoch, long batch, long now) {
    stepping = epoch;
    stepStart = now;
    epoch.stepBegun = now;
    epoch.stepEnded = now;
    StepEvent step = new StepEvent();
    step.batch = batch;
    step.begin();
    epoch.step = step;
  }

  /** Ends the step or a piece of it, because the thread requests a batch. */
  private void endStep(long now) {
    OpenEpoch epoch = stepping;
    if (epoch == null) {
      return;
    }
    stepping = null;
    asking = epoch;
    long compute = Math.max(0, now - stepStart - epoch.pieceCheckpoint);
    epoch.event.compute += compute;
    StepEvent step = epoch.step;
    if (step != null) {
      step.compute += compute;
      step.checkpoint += epoch.pieceCheckpoint;
      if (epoch.stepEnded == epoch.stepBegun || compute >= EVENT_PIECE_NANOS) {
        epoch.stepEnded = now;
        step.end();
      }
    }
    epoch.pieceCheckpoint = 0;
    steppedSince += compute;
    divideCoreWait(epoch, now);
    whenTraining(
        epoch,
        () -> {
          recorder.totals.count(job -> job.compute += compute);
          recorder.totals.recordActivity(now, now, recorder.gcNanos());
        });
  }

  /** Writes the step: the next batch is taken or the epoch has ended, so all pieces are known. */
  private void closeStep(OpenEpoch epoch) {
    StepEvent step = epoch.step;
    if (step == null) {
      return;
    }
    long start = epoch.stepBegun;
    long end = epoch.stepEnded;
    epoch.step = null;
    epoch.steps.add(step.compute);
    whenTraining(
        epoch,
        () -> {
          recorder.durations.record(Durations.Kind.STEP, step.compute);
          step.epoch = numberOf(epoch);
          recorder.events.write(step, start, end);
        });
  }

  private void checkpoint(
      long now, long duration, @Nullable Object subject, @Nullable Event event) {
    if (stepping != null) {
      stepping.pieceCheckpoint += duration;
      stepping.event.checkpoint += duration;
    }
    recorder.totals.count(job -> job.checkpoint += duration);
    recorder.totals.recordWrite(now - duration, now);
    ended(Durations.Kind.CHECKPOINT, now, duration, subject, event);
  }

  // ---- epochs

  private OpenEpoch epochOf(Object subject, long start, @Nullable EpochEvent begun) {
    OpenEpoch epoch = find(subject);
    OpenEpoch last = epochs.isEmpty() ? null : epochs.get(epochs.size() - 1);
    if (last != null && last != epoch) {
      last.left = start;
    }
    if (epoch == null) {
      epoch = new OpenEpoch(subject, recorder.dataset(subject), start, recorder.updates(), begun);
      // The open epoch used last may be interrupted by a validation. Any earlier one was left by a
      // break or an exception, because otherwise it would have been used since.
      for (OpenEpoch other : List.copyOf(epochs.subList(0, Math.max(0, epochs.size() - 1)))) {
        end(other, false, other.left);
      }
    } else {
      epochs.remove(epoch);
    }
    epochs.add(epoch);
    return epoch;
  }

  /**
   * Writes open epochs as they stand, because the job ends. Called by the thread that ends the job.
   */
  void finish(long now) {
    endStep(now);
    endWait(now);
    for (OpenEpoch epoch : List.copyOf(epochs)) {
      end(epoch, false, epochs.size() > 1 ? epoch.left : now);
    }
  }

  /** Ends the wait that this thread is in, if any: its batch will not come before the job ends. */
  private void endWait(long now) {
    long since = waiting;
    int at = waitDepth - 1;
    if (since == 0 || at < 0) {
      return;
    }
    waits.add(starts[at], now);
    DataStallEvent wait = stall;
    waits.divide(wait, 0, null, DataSetWait.NONE, false);
    Object subject = subjects[at];
    OpenEpoch epoch = subject == null ? null : find(subject);
    if (epoch != null) {
      epoch.event.addStall(wait);
      wait.epoch = numberOf(epoch);
    }
    wait.end();
    recorder.totals.count(job -> job.addStall(wait));
    recorder.totals.recordActivity(since, now, recorder.gcNanos());
    recorder.events.write(wait, since, now);
  }

  private @Nullable OpenEpoch find(Object subject) {
    for (OpenEpoch epoch : epochs) {
      if (epoch.isOf(subject)) {
        return epoch;
      }
    }
    return null;
  }

  private void endEpochOf(Object subject, long now) {
    OpenEpoch epoch = find(subject);
    if (epoch != null) {
      if (stepping == epoch) {
        endStep(now);
      }
      end(epoch, false, now);
    }
  }

  private void end(OpenEpoch epoch, boolean complete, long now) {
    epochs.remove(epoch);
    recorder.epochEnds.increment();
    if (!training) {
      // Before training (statistics for a normalizer, a look at the first batch) or on a thread
      // that only loads: this is not an epoch, and its waits are not stalls.
      held.removeIf(one -> one.epoch() == epoch);
      if (stepping == epoch) {
        stepping = null;
      }
      return;
    }
    closeStep(epoch);
    numberOf(epoch);
    if (!updates) {
      // Other threads may update the model for this one, as in DL4J's ParallelWrapper.
      trained(epoch, recorder.updates() - epoch.updatesBefore);
    }
    EpochEvent event = epoch.event;
    event.complete = complete;
    event.wall = now - epoch.start;
    event.slowSteps = epoch.skips ? 0 : epoch.steps.beyondFast();
    recorder.totals.count(job -> job.slowSteps += event.slowSteps);
    if (epoch.skips) {
      recorder.totals.skipped(event.updates == 0 ? 1 : 0);
    }
    recorder.totals.epochEnded(event, now);
    event.end();
    recorder.events.write(event, epoch.start, now);
    recorder.durations.epochEnded(event.epoch);
    recorder.totals.notifyListeners(event);
    Object batches = epoch.subject();
    if (complete && batches != null && (event.updates > 0 || recorder.updates() == 0)) {
      recorder.epochs.accept(batches);
    }
    // A validation inside an epoch has ended: the interrupted step continues.
    OpenEpoch outer = epochs.isEmpty() ? null : epochs.get(epochs.size() - 1);
    if (outer != null && outer.step != null && stepping == null) {
      stepping = outer;
      stepStart = now;
    }
  }

  /** Records a model update: the pass that the step's batch comes from is an epoch. */
  private void updated(int model) {
    updates = true;
    OpenEpoch epoch =
        stepping != null || epochs.isEmpty() ? stepping : epochs.get(epochs.size() - 1);
    if (epoch != null) {
      epoch.event.model = epoch.event.model == 0 ? model : epoch.event.model;
      trained(epoch, 1);
    }
  }

  private void trained(OpenEpoch epoch, long times) {
    if (epoch.event.updates == 0 && times > 0) {
      recorder.totals.beganToUpdate();
    }
    epoch.event.updates += times;
    recorder.totals.count(job -> job.updates += times);
  }

  private long numberOf(OpenEpoch epoch) {
    if (epoch.event.epoch == 0) {
      epoch.event.epoch = recorder.totals.nextEpoch();
    }
    return epoch.event.epoch;
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

  private void whenTraining(OpenEpoch epoch, Runnable result) {
    if (training) {
      result.run();
    } else if (held.size() < MAX_HELD) {
      held.add(new Held(epoch, result));
    }
  }

  private static @Nullable String nameOf(@Nullable Object subject) {
    if (subject == null || subject instanceof String) {
      return (String) subject;
    }
    return subject instanceof Class<?> type ? type.getName() : subject.getClass().getName();
  }
}
