package io.coordl.telemetry.attribution;

import static io.coordl.bridge.SpanKind.ASK;
import static io.coordl.bridge.SpanKind.BATCH;
import static io.coordl.bridge.SpanKind.CHECKPOINT;
import static io.coordl.bridge.SpanKind.COLLECTION;
import static io.coordl.bridge.SpanKind.COMPUTE;
import static io.coordl.bridge.SpanKind.CONVERT;
import static io.coordl.bridge.SpanKind.DATA_SET;
import static io.coordl.bridge.SpanKind.DECODE;
import static io.coordl.bridge.SpanKind.EPOCH;
import static io.coordl.bridge.SpanKind.FIT;
import static io.coordl.bridge.SpanKind.PRODUCER;
import static io.coordl.bridge.SpanKind.REUSED;
import static io.coordl.bridge.SpanKind.SAMPLE;
import static io.coordl.bridge.SpanKind.SKIPPED;
import static io.coordl.bridge.SpanKind.TAKE;
import static io.coordl.bridge.SpanKind.TRANSFORM;
import static io.coordl.bridge.SpanKind.UPDATE;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.SpanKind;
import io.coordl.host.CoreTimes;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Loops of many shapes on a clock that only the test moves; one tick is one nanosecond. */
class SpanRecorderTest {
  private static final long MILLI = 1_000_000;

  private final AtomicLong clock = new AtomicLong(1_000);
  private final AtomicLong gc = new AtomicLong();
  private final DurationLog durations = new DurationLog();
  private final SpanRecorder spans =
      new SpanRecorder(new EventLog(), durations, gc::get, clock::get);
  private final Object iterator = new Object();

  /** Every duration and epoch, in order. */
  private static final class DurationLog implements Durations {
    final List<String> lines = new ArrayList<>();

    @Override
    public synchronized void record(Kind kind, long nanos) {
      lines.add(kind.label() + " " + nanos);
    }

    @Override
    public synchronized void epochEnded(long epoch) {
      lines.add("epoch " + epoch);
    }
  }

  @BeforeEach
  void noRecording() {
    spans.events().close();
  }

  private void tick(long nanos) {
    clock.addAndGet(nanos);
  }

  private void span(SpanKind kind, long nanos) {
    long token = spans.enter(kind, this);
    tick(nanos);
    spans.exit(token, null);
  }

  private void hasNext(boolean answer, long nanos) {
    long token = spans.enter(ASK, iterator);
    tick(nanos);
    spans.exit(token, answer);
  }

  /** Epochs so far, including evaluations and open epochs; call this once, since it begins one. */
  private long startedEpochs() {
    return spans.totals().nextEpoch() - 1;
  }

  private Figures totals() {
    return spans.totals().snapshot();
  }

  private void prepare(long nanos) {
    long token = spans.enter(DATA_SET, "a table");
    assertThat(spans.loadingSample()).isFalse(); // The table's file is no item.
    tick(nanos);
    spans.exit(token, null);
  }

  private void epoch(int batches) {
    for (int i = 0; i < batches; i++) {
      hasNext(true, 0);
      long take = spans.enter(TAKE, iterator);
      tick(MILLI);
      spans.exit(take, new Object());
      tick(2 * MILLI);
      span(UPDATE, 0);
    }
    hasNext(false, 0);
  }

  /** DJL's tables, for example, read their file in every epoch. */
  @Test
  void theWaitForADataSetIsPartOfItsEpoch() {
    for (int i = 0; i < 3; i++) {
      prepare(50 * MILLI);
      epoch(10);
      tick(5 * MILLI);
    }

    Figures t = totals();
    assertThat(t.wall).isEqualTo((3 * (50 + 30) + 2 * 5) * MILLI);
    assertThat(t.prepStall).isEqualTo(3 * (50 + 10) * MILLI);
    assertThat(t.prepTime()).isEqualTo(3 * (50 + 10) * MILLI);
    assertThat(t.compute).isEqualTo(3 * 20 * MILLI);
    assertThat(t.betweenEpochs()).isEqualTo(2 * 5 * MILLI);
    assertThat(t.batches).isEqualTo(30);
  }

  /** An epoch as DJL's data iterable makes it, whose {@code fetch} is a span of its own. */
  private void epochOfOneFetchedBatch() {
    hasNext(true, 0);
    long take = spans.enter(TAKE, iterator);
    Object batch = new Object();
    long fetch = spans.enter(BATCH, iterator);
    tick(3 * MILLI);
    spans.exit(fetch, batch);
    spans.exit(take, batch);
    span(UPDATE, MILLI);
    hasNext(false, 0);
  }

  @Test
  void theWaitForADataSetIsPreparationAlsoIfItsBatchBeginsLater() {
    prepare(50 * MILLI);
    epochOfOneFetchedBatch();

    assertThat(totals().prepStall).isEqualTo(53 * MILLI);
    assertThat(totals().dataSetStall).isEqualTo(50 * MILLI);
    assertThat(totals().queueStall).isZero();
    assertThat(totals().prepTime()).isEqualTo(53 * MILLI);
  }

  /** DJL's own prefetching, for example, begins before the loop does. */
  @Test
  void aBatchMadeWhileADataSetIsPreparedIsNoSecondWait() throws InterruptedException {
    Object batch = new Object();
    long dataSet = spans.enter(DATA_SET, "a table");
    Thread worker =
        new Thread(
            () -> {
              long fetch = spans.enter(BATCH, iterator);
              tick(20 * MILLI);
              spans.exit(fetch, batch);
            });
    worker.start();
    worker.join();
    tick(30 * MILLI);
    spans.exit(dataSet, null);
    hasNext(true, 0);
    long take = spans.enter(TAKE, iterator);
    tick(2 * MILLI);
    spans.exit(take, batch);
    span(UPDATE, MILLI);
    hasNext(false, 0);

    assertThat(totals().stall).isEqualTo(52 * MILLI);
    assertThat(totals().prepStall).isEqualTo(50 * MILLI);
    assertThat(totals().queueStall).isEqualTo(2 * MILLI);
  }

  /** A data set may loop over its samples before the first epoch, for example to get their mean. */
  @Test
  void aLoopWithinThePreparationOfADataSetTakesNoBatchFromTheEpoch() {
    long dataSet = spans.enter(DATA_SET, "a table");
    Object statistics = new Object();
    long take = spans.enter(TAKE, statistics);
    tick(5 * MILLI);
    spans.exit(take, new Object());
    tick(5 * MILLI);
    spans.exit(dataSet, null);
    epoch(10);

    assertThat(totals().batches).isEqualTo(1 + 10);
  }

  /** Pauses are no work. */
  @Test
  void collectionsDuringThePreparationOfADataSetAreNoPreparation() {
    long dataSet = spans.enter(DATA_SET, "a table");
    tick(50 * MILLI);
    gc.addAndGet(20 * MILLI);
    spans.exit(dataSet, null);
    epochOfOneFetchedBatch();

    assertThat(totals().gcStall).isEqualTo(20 * MILLI);
    assertThat(totals().prepTime()).isEqualTo(33 * MILLI);
    assertThat(totals().prepStall).isEqualTo(33 * MILLI);
  }

  /** Otherwise the wait for a data set would count as a long wait for its first batch. */
  @Test
  void theWaitForADataSetIsNotAWaitForABatch() {
    prepare(50 * MILLI);
    epoch(10);
    prepare(50 * MILLI);
    long ask = spans.enter(ASK, iterator);
    tick(3 * MILLI);
    OpenWait open = spans.openWait();
    spans.exit(ask, true);

    assertThat(open).isNotNull();
    assertThat(open.nanos()).isEqualTo(3 * MILLI);
    assertThat(open.longest()).isEqualTo(MILLI);
  }

  @Test
  void aDataSetPreparedLongBeforeItsEpochIsNoWait() {
    prepare(50 * MILLI);
    tick(500 * MILLI); // The model is built.
    epoch(10);
    prepare(MILLI / 2); // The table is already prepared.
    epoch(10);

    assertThat(totals().stall).isEqualTo(20 * MILLI);
    assertThat(totals().wall).isEqualTo(60 * MILLI + MILLI / 2);
    assertThat(totals().compute).isEqualTo(40 * MILLI);
  }

  @Test
  void aValidationsDataSetIsNoPartOfTheStep() {
    prepare(2 * MILLI);
    hasNext(true, 0);
    request(TAKE, new Object());
    span(UPDATE, MILLI);
    prepare(30 * MILLI);
    Object validation = new Object();
    long take = spans.enter(TAKE, validation);
    spans.exit(take, new Object());
    tick(MILLI);
    long ask = spans.enter(ASK, validation);
    spans.exit(ask, false);
    hasNext(false, 0);

    assertThat(totals().stall).isEqualTo(32 * MILLI + 10);
    assertThat(totals().compute).isEqualTo(2 * MILLI);
    assertThat(startedEpochs()).isEqualTo(2);
  }

  private void request(SpanKind kind, @Nullable Object answer) {
    long token = spans.enter(kind, iterator);
    tick(10);
    spans.exit(token, answer);
  }

  /** A program may catch the exception and request the next batch. */
  @Test
  void requestsThatThrewAreCounted() {
    long fit = spans.enter(FIT, null);
    request(TAKE, new IllegalStateException("the first batch"));
    for (int batch = 0; batch < 3; batch++) {
      request(ASK, true);
      request(TAKE, new Object());
      tick(100);
    }
    request(ASK, true);
    long take = spans.enter(TAKE, iterator);
    spans.enter(SAMPLE, this); // Left open by the exception.
    spans.exit(take, new IllegalStateException("a broken picture"));
    request(ASK, new IllegalStateException("the thread that prepares has ended"));
    request(TAKE, new NoSuchElementException()); // The end.
    request(ASK, false);
    spans.exit(fit, null);

    assertThat(totals().failedBatches).isEqualTo(3);
    assertThat(totals().batches).isEqualTo(3);
    assertThat(totals().compute).isEqualTo(300);
  }

  @Test
  void aBatchPreparedByTheTrainingThreadIsSplitIntoFetchAndPrep() {
    long fit = spans.enter(FIT, null);
    hasNext(true, 1);
    long take = spans.enter(TAKE, iterator);
    long sample = spans.enter(SAMPLE, this);
    spans.fetchTime(clock.get(), clock.addAndGet(30));
    span(DECODE, 50);
    spans.exit(sample, null);
    span(TRANSFORM, 20);
    spans.exit(take, new Object());
    tick(500);
    hasNext(false, 4);
    spans.exit(fit, null);

    Figures t = totals();
    assertThat(t.batches).isEqualTo(1);
    assertThat(t.stall).isEqualTo(105);
    assertThat(t.fetchStall).isEqualTo(30);
    assertThat(t.prepStall).isEqualTo(71);
    // The call that ends the epoch is a wait without a batch; it counts for the job and the epoch.
    assertThat(t.queueStall).isEqualTo(4);
    assertThat(t.compute).isEqualTo(500);
    Figures all = spans.totals().snapshot();
    assertThat(all.fetchTime).isEqualTo(30);
    assertThat(all.decodeTime).isEqualTo(50);
    assertThat(all.transformTime).isEqualTo(20);
    assertThat(startedEpochs()).isEqualTo(1);
    assertThat(durations.lines).contains("stall 101", "step 500", "epoch 1");
  }

  private void loadOne() {
    hasNext(true, 1);
    long take = spans.enter(TAKE, iterator);
    tick(9);
    spans.exit(take, new Object());
    tick(30);
  }

  /**
   * A thread that prefetches before another thread trains takes only a few batches; a loader takes
   * all of them.
   */
  @Test
  void aThreadThatLoadsThreeBatchesIsALoaderUntilAThreadTrains() {
    for (int i = 1; i < JobTotals.LOADED; i++) {
      loadOne();
    }
    assertThat(spans.totals().loading().batches).isZero();
    assertThat(spans.totals().snapshot().loadedBatches).isEqualTo(JobTotals.LOADED - 1);
    loadOne();
    JobStatisticsEvent loading = spans.totals().loading();
    assertThat(loading.batches).isEqualTo(JobTotals.LOADED);
    assertThat(loading.stall).isEqualTo(10L * JobTotals.LOADED);
    assertThat(loading.wall).isEqualTo(40L * JobTotals.LOADED - 30);
    assertThat(loading.epochs).isEqualTo(1);
    assertThat(totals().wall).isZero();

    spans.exit(spans.enter(COMPUTE, null), null);
    loadOne();
    assertThat(spans.totals().loading().batches).isZero();
    assertThat(spans.totals().snapshot().loadedBatches).isZero();
    assertThat(totals().wall).isPositive();
  }

  @Test
  void aThreadThatWaitsLongForTwoBatchesIsALoaderUntilAThreadTrains() {
    for (int i = 0; i < 2; i++) {
      assertThat(spans.totals().loading().batches).isZero();
      long take = spans.enter(TAKE, iterator);
      tick(JobTotals.LONG_LOAD_NANOS);
      spans.exit(take, new Object());
    }
    assertThat(spans.totals().loading().batches).isEqualTo(2);
    runOnOtherThread(() -> spans.exit(spans.enter(COMPUTE, null), null));
    assertThat(spans.totals().loading().batches).isZero();
  }

  /** The program's own thread loads batches into a queue, from which the training thread polls. */
  @Test
  void aThreadThatLoadsForOneThatTrainsIsALoaderOnceTheQueueIsFull() {
    runOnOtherThread(() -> spans.exit(spans.enter(COMPUTE, null), null));
    for (int i = 1; i < JobTotals.QUEUED; i++) {
      loadOne();
    }
    assertThat(spans.totals().loading().batches).isZero();
    loadOne();
    assertThat(spans.totals().loading().batches).isEqualTo(JobTotals.QUEUED);
  }

  @Test
  void aLoaderOfFewBatchesIsDetectedInItsSecondPass() {
    loadOne();
    hasNext(false, 1);
    loadOne();
    assertThat(spans.totals().loading().batches).isEqualTo(2);
    assertThat(spans.totals().loading().epochs).isEqualTo(2);
  }

  /** A second loading thread may be loading for the first one. */
  @Test
  void onlyTheFirstLoaderCounts() throws InterruptedException {
    loadOne();
    runOnOtherThread(
        () -> {
          for (int i = 0; i < JobTotals.LOADED; i++) {
            loadOne();
          }
        });
    assertThat(spans.totals().loading().batches).isZero();
    assertThat(spans.totals().snapshot().loadedBatches).isEqualTo(1 + JobTotals.LOADED);
  }

  @Test
  void aWaitForAnotherThreadsBatchIsSplitByItsOverlapWithPreparation() {
    Object batch = new Object();
    long fit = spans.enter(FIT, null);
    long ask = spans.enter(ASK, iterator);
    tick(10); // The worker has not started: queueing.
    runOnOtherThread(
        () -> {
          long producer = spans.enter(PRODUCER, null);
          long take = spans.enter(TAKE, "inner iterator");
          spans.fetchTime(clock.get(), clock.addAndGet(60));
          tick(40);
          spans.exit(take, batch);
          spans.exit(producer, null);
        });
    tick(5); // Hand-over: queueing.
    spans.exit(ask, true);
    long take = spans.enter(TAKE, iterator);
    spans.exit(take, batch);
    spans.exit(fit, null);

    Figures t = totals();
    assertThat(t.stall).isEqualTo(115);
    assertThat(t.fetchStall).isEqualTo(60);
    assertThat(t.prepStall).isEqualTo(40);
    assertThat(t.queueStall).isEqualTo(15);
    assertThat(durations.lines).containsOnlyOnce("batch 100");
  }

  /** How long each thread has waited for a core so far, in milliseconds. */
  private static final class Waits implements CoreTimes {
    final ThreadLocal<Long> millis = ThreadLocal.withInitial(() -> 0L);

    void add(long more) {
      millis.set(millis.get() + more);
    }

    @Override
    public long ofThread() {
      return 1_000_000 * millis.get();
    }

    @Override
    public void ofProcess(Figures figures) {
      figures.coreWait = 42;
    }
  }

  private void millis(long many) {
    tick(1_000_000 * many);
  }

  @Test
  void waitsForACoreAreSplitByPhase() {
    Waits cores = new Waits();
    spans.cores(cores);
    long fit = spans.enter(FIT, null);
    for (int step = 0; step < 2; step++) {
      long take = spans.enter(TAKE, iterator);
      millis(20);
      cores.add(4); // While this thread prepares.
      spans.exit(take, new Object());
      millis(100);
      cores.add(30); // While it computes.
    }
    hasNext(false, 0);
    spans.exit(fit, null);
    Figures t = totals();
    assertThat(t.computeCoreWait).isEqualTo(60_000_000);
    assertThat(t.prepCoreWait).isEqualTo(8_000_000);
    assertThat(t.prepStall).isEqualTo(40_000_000);
    assertThat(t.coreWait).as("of the process, since its first wait").isZero();
  }

  /** A collection, for example, disturbs some steps. */
  @Test
  void whatSomeStepsTakeLongerThanTheFastestIsCounted() {
    for (int i = 0; i < 20; i++) {
      hasNext(true, 0);
      request(TAKE, new Object());
      tick((i < 5 ? 10 : 2) * MILLI);
      span(UPDATE, 0);
    }
    hasNext(false, 0);

    assertThat(totals().slowSteps).isEqualTo(5 * 8 * MILLI);
    assertThat(totals().compute).isEqualTo((5 * 10 + 15 * 2) * MILLI);
  }

  /** In DJL, a batch has its own span inside the wait for it. */
  @Test
  void coreWaitsOfABatchMadeInsideItsWaitCountAsPreparation() {
    Waits cores = new Waits();
    spans.cores(cores);
    long fit = spans.enter(FIT, null);
    for (int step = 0; step < 2; step++) {
      Object batch = new Object();
      long take = spans.enter(TAKE, iterator);
      long span = spans.enter(BATCH, "iterable");
      millis(20);
      cores.add(4);
      spans.exit(span, batch);
      spans.exit(take, batch);
      millis(100);
      cores.add(30);
    }
    hasNext(false, 0);
    spans.exit(fit, null);
    assertThat(totals().prepCoreWait).isEqualTo(8_000_000);
    assertThat(totals().computeCoreWait).isEqualTo(60_000_000);
  }

  @Test
  void coreWaitsOfAPreparingThreadCountAsPreparation() {
    Waits cores = new Waits();
    spans.cores(cores);
    runOnOtherThread(
        () -> {
          long producer = spans.enter(PRODUCER, null);
          for (int batch = 0; batch < 3; batch++) {
            long span = spans.enter(BATCH, "reader");
            millis(10);
            cores.add(5);
            spans.exit(span, new Object());
          }
          spans.exit(producer, null);
        });
    assertThat(totals().prepCoreWait).isEqualTo(15_000_000);
    assertThat(totals().computeCoreWait).isZero();
  }

  /**
   * Reading the counter takes microseconds, so short steps share one reading, split by their time.
   */
  @Test
  void shortStepsShareOneCounterReading() {
    Waits cores = new Waits();
    spans.cores(cores);
    long fit = spans.enter(FIT, null);
    for (int step = 0; step < 100; step++) {
      long take = spans.enter(TAKE, iterator);
      tick(100_000);
      spans.exit(take, new Object());
      tick(300_000);
      if (step % 5 == 4) {
        cores.add(1);
      }
    }
    millis(10);
    hasNext(false, 0);
    spans.exit(fit, null);
    Figures t = totals();
    assertThat(t.computeCoreWait + t.prepCoreWait).isBetween(15_000_000L, 20_000_000L);
    assertThat(t.computeCoreWait).isGreaterThan(2 * t.prepCoreWait);
  }

  @Test
  void gcPausesAreSubtractedFirst() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    tick(100);
    gc.addAndGet(40);
    spans.exit(take, new Object());
    spans.exit(fit, null);
    assertThat(totals().gcStall).isEqualTo(40);
    assertThat(totals().prepStall).isEqualTo(60);
  }

  @Test
  void nestedIteratorsAreOneWaitAndOneBatch() {
    long fit = spans.enter(FIT, null);
    long outer = spans.enter(TAKE, iterator);
    long inner = spans.enter(TAKE, "wrapped");
    long innermost = spans.enter(BATCH, "reader");
    tick(70);
    spans.exit(innermost, "other batch object");
    spans.exit(inner, "batch");
    spans.exit(outer, "batch");
    spans.exit(fit, null);
    assertThat(totals().stall).isEqualTo(70);
    assertThat(totals().batches).isEqualTo(1);
  }

  @Test
  void aHandWrittenLoopKeepsTheWaitBeforeItsFirstStep() {
    long take = spans.enter(TAKE, iterator);
    tick(80);
    spans.exit(take, new Object());
    assertThat(totals().stall).as("not yet known to train").isZero();
    span(COMPUTE, 10);
    assertThat(totals().stall).isEqualTo(80);
  }

  @Test
  void aThreadThatOnlyLoadsNeverStalls() {
    Object batch = new Object();
    runOnOtherThread(
        () -> {
          long take = spans.enter(TAKE, "inner");
          tick(300);
          spans.exit(take, batch);
          hasNext(false, 1);
        });
    assertThat(totals().stall).isZero();
    assertThat(startedEpochs()).isZero();

    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    tick(7);
    spans.exit(take, batch);
    spans.exit(fit, null);
    assertThat(totals().stall).isEqualTo(7);
    assertThat(totals().queueStall).as("the batch was ready before the wait").isEqualTo(7);
  }

  @Test
  void aCheckpointInsideAStepIsNotCompute() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    spans.exit(take, new Object());
    tick(100);
    long outer = spans.enter(CHECKPOINT, "model");
    span(CHECKPOINT, 30);
    spans.exit(outer, null);
    hasNext(false, 0);
    spans.exit(fit, null);
    assertThat(totals().compute).isEqualTo(100);
    assertThat(totals().checkpoint).as("nested, counted once").isEqualTo(30);
  }

  @Test
  void aCallThatThrowsClosesItsInnerSpans() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    spans.enter(SAMPLE, this); // Its exit is never called.
    spans.enter(DECODE, this);
    tick(20);
    spans.exit(take, null);
    assertThat(spans.loadingSample()).isFalse();
    long again = spans.enter(TAKE, iterator);
    tick(5);
    spans.exit(again, new Object());
    spans.exit(fit, null);
    assertThat(totals().stall).isEqualTo(5);
  }

  @Test
  void aResetEndsAnEpochLeftEarly() {
    long fit = spans.enter(FIT, null);
    for (int epoch = 0; epoch < 3; epoch++) {
      long take = spans.enter(TAKE, iterator);
      spans.exit(take, new Object());
      span(COMPUTE, 10);
      spans.exit(spans.enter(EPOCH, iterator), null);
    }
    spans.exit(fit, null);
    assertThat(startedEpochs()).isEqualTo(3);
  }

  @Test
  void aValidationInsideAnEpochKeepsTheInterruptedStep() {
    Object validation = new Object();
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    spans.exit(take, new Object());
    tick(100);
    take = spans.enter(TAKE, validation);
    tick(9);
    spans.exit(take, new Object());
    tick(50);
    long ask = spans.enter(ASK, validation);
    spans.exit(ask, false);
    tick(30);
    hasNext(false, 0);
    spans.exit(fit, null);
    assertThat(totals().compute).isEqualTo(180);
    assertThat(totals().stall).isEqualTo(9);
    assertThat(durations.lines).contains("epoch 1", "epoch 2");
  }

  /** Runs an epoch with one batch, after a wait of {@code wait}. */
  private void epoch(Object over, long wait, Runnable step) {
    long take = spans.enter(TAKE, over);
    tick(wait);
    spans.exit(take, new Object());
    step.run();
    tick(10);
    spans.exit(spans.enter(ASK, over), false);
  }

  private void update() {
    span(UPDATE, 10);
  }

  @Test
  void nestedUpdatesCountOnce() {
    long fit = spans.enter(FIT, null);
    epoch(
        iterator,
        5,
        () -> {
          long step = spans.enter(UPDATE, null);
          update();
          spans.exit(step, null);
        });
    spans.exit(fit, null);
    assertThat(totals().updates).isEqualTo(1);
  }

  @Test
  void anEpochOfAnEndedThreadCounts() {
    runOnOtherThread(
        () -> {
          long fit = spans.enter(FIT, null);
          spans.exit(spans.enter(TAKE, iterator), new Object());
          update();
          spans.exit(fit, null);
        });
    System.gc(); // The thread is gone, as main is when the JVM ends.
    spans.finish();

    assertThat(spans.totals().ended().describe(spans.totals().snapshot(), false))
        .isEqualTo("1 epoch, left early");
    assertThat(durations.lines).contains("epoch 1");
  }

  @Test
  void anEpochWithoutUpdatesIsAnEvaluation() {
    Object validation = new Object();
    long fit = spans.enter(FIT, null);
    for (int epoch = 0; epoch < 2; epoch++) {
      epoch(iterator, 5, this::update);
      epoch(validation, 7, () -> span(COMPUTE, 10));
    }
    spans.exit(fit, null);

    assertThat(startedEpochs()).isEqualTo(4);
    assertThat(spans.totals().updating()).isEqualTo(2);
    assertThat(spans.totals().ended().withoutUpdate()).isEqualTo(2);
  }

  @Test
  void anEpochInterruptedByAnEvaluationIsOneEpoch() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    spans.exit(take, new Object());
    epoch(new Object(), 7, () -> span(COMPUTE, 10));
    update();
    hasNext(false, 0);
    spans.exit(fit, null);

    assertThat(spans.totals().updating()).isEqualTo(1);
    assertThat(spans.totals().ended().withoutUpdate()).isEqualTo(1);
  }

  @Test
  void updatesOfWorkersMakeTheFeedingLoopAnEpoch() {
    long fit = spans.enter(FIT, null);
    epoch(iterator, 5, () -> runOnOtherThread(this::update));
    epoch(iterator, 5, () -> {});
    spans.exit(fit, null);

    assertThat(spans.totals().updating()).isEqualTo(1);
    assertThat(spans.totals().ended().withoutUpdate()).isEqualTo(1);
  }

  @Test
  void aJobIsJudgedByItsEpochsAfterTheFirst() {
    long fit = spans.enter(FIT, null);
    epoch(iterator, 1_000, this::update);
    assertThat(spans.totals().ended().judged().stall).isEqualTo(1_000);
    assertThat(spans.totals().ended().judged().wall).isEqualTo(1_020);
    epoch(new Object(), 500, () -> span(COMPUTE, 10));
    epoch(iterator, 2, this::update);
    epoch(iterator, 3, this::update);
    spans.exit(fit, null);

    Figures judged = spans.totals().ended().judged();
    assertThat(judged.stall).isEqualTo(5);
    assertThat(judged.compute).isEqualTo(40);
    assertThat(judged.wall).isEqualTo(45);
  }

  @Test
  void gcPausesAreExcludedFromTheInterruptedWork() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    spans.fetchTime(clock.get(), clock.addAndGet(20));
    long decode = spans.enter(DECODE, null);
    tick(60);
    gc.addAndGet(40);
    spans.exit(decode, null);
    tick(20);
    spans.exit(take, new Object());
    tick(10);
    gc.addAndGet(5); // During the step.
    hasNext(false, 0);
    spans.exit(fit, null);

    Figures all = totals();
    assertThat(all.gcStall).isEqualTo(40);
    assertThat(all.fetchTime + all.prepTime()).isEqualTo(60);
    assertThat(all.decodeTime).isEqualTo(36);
    assertThat(all.fetchTime).isEqualTo(12);
    assertThat(all.gcPauses).isEqualTo(45);
  }

  @Test
  void anImageThatBecomesAnArrayIsDecodedOnce() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    span(DECODE, 30);
    span(CONVERT, 20);
    spans.exit(take, new Object());
    spans.exit(fit, null);

    assertThat(spans.totals().snapshot().decodeTime).isEqualTo(50);
    assertThat(durations.lines)
        .filteredOn(line -> line.startsWith("decode"))
        .containsExactly("decode 30");
  }

  @Test
  void anImageFromMemoryIsNotDecoded() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    span(DECODE, 30);
    long decode = spans.enter(DECODE, null);
    spans.exit(spans.enter(REUSED, null), null);
    span(DECODE, 20); // Another overload of the same method.
    spans.exit(decode, null);
    span(DECODE, 10);
    spans.exit(take, new Object());
    spans.exit(fit, null);

    assertThat(spans.totals().snapshot().decodeTime).isEqualTo(60);
    assertThat(durations.lines)
        .filteredOn(line -> line.startsWith("decode"))
        .containsExactly("decode 30", "decode 10");
  }

  @Test
  void workBetweenHasNextAndNextBelongsToTheStep() {
    long fit = spans.enter(FIT, null);
    for (int batch = 0; batch < 2; batch++) {
      hasNext(true, 10);
      tick(200); // ParallelWrapper waits here for its workers.
      long take = spans.enter(TAKE, iterator);
      tick(1);
      spans.exit(take, new Object());
      tick(5);
    }
    hasNext(false, 0);
    spans.exit(fit, null);
    assertThat(totals().stall).isEqualTo(22);
    assertThat(totals().compute).as("before the first batch there is no step").isEqualTo(210);
    assertThat(durations.lines).contains("step 205", "step 5");
  }

  @Test
  void aPassBeforeTrainingIsNeitherAnEpochNorAStall() {
    for (int batch = 0; batch < 5; batch++) { // normalizer.fit(iterator)
      hasNext(true, 1);
      long take = spans.enter(TAKE, iterator);
      tick(50);
      spans.exit(take, new Object());
    }
    hasNext(false, 1);
    spans.exit(spans.enter(EPOCH, iterator), null);
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    tick(7);
    spans.exit(take, new Object());
    hasNext(false, 0);
    spans.exit(fit, null);
    assertThat(totals().batches).isEqualTo(1);
    assertThat(totals().stall).isEqualTo(7);
    assertThat(startedEpochs()).isEqualTo(1);
  }

  @Test
  void aWaitForANextThatThrowsCountsAsAWait() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    tick(10);
    spans.exit(take, new Object());
    take = spans.enter(TAKE, iterator);
    tick(500);
    spans.exit(take, null);
    assertThat(totals().stall).isEqualTo(510);
    assertThat(totals().batches).isEqualTo(1);
    spans.exit(fit, null);
  }

  @Test
  void epochsLeftByABreakAreWrittenWithTheirLastStep() {
    long fit = spans.enter(FIT, null);
    for (int epoch = 0; epoch < 3; epoch++) {
      Object data = new Object(); // DJL: every epoch iterates over its own object.
      long take = spans.enter(TAKE, data);
      tick(2);
      spans.exit(take, new Object());
      tick(50);
    }
    spans.exit(fit, null);
    spans.finish();
    assertThat(durations.lines).contains("epoch 1", "epoch 2", "epoch 3");
    assertThat(totals().compute).isEqualTo(150);
  }

  /** Loops without {@code hasNext}, whose epochs end only when others have begun. */
  @Test
  void anUnendedEpochLastsUntilAnotherIteratorIsUsed() {
    List<Long> walls = new ArrayList<>();
    spans
        .events()
        .open(
            (event, start, end) -> {
              if (event instanceof EpochEvent epoch) {
                walls.add(epoch.wall);
              }
            });
    long fit = spans.enter(FIT, null);
    Object interrupted = new Object();
    for (Object data :
        List.of(new Object(), interrupted, new Object(), interrupted, new Object(), new Object())) {
      long take = spans.enter(TAKE, data);
      tick(2);
      spans.exit(take, new Object());
      update();
      tick(50);
    }
    spans.exit(fit, null);
    spans.finish();
    assertThat(walls).containsExactly(62L, 62L, 186L, 62L, 62L);
  }

  @Test
  void aLateCheckpointExtendsTheJobByItsOwnTimeOnly() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, iterator);
    tick(10);
    spans.exit(take, new Object());
    tick(90);
    hasNext(false, 0);
    spans.exit(fit, null);
    tick(60_000);
    span(CHECKPOINT, 200);
    assertThat(spans.totals().snapshot().wall).isEqualTo(300);
  }

  private void epochOf(long nanos) {
    epochOf(nanos, new Object());
  }

  private void epochOf(long nanos, Object data) {
    long take = spans.enter(TAKE, data);
    spans.exit(take, new Object());
    tick(nanos);
    span(UPDATE, 0);
    long ask = spans.enter(ASK, data);
    spans.exit(ask, false);
  }

  @Test
  void theTimeLeftIsDerivedFromPlannedEpochs() {
    long fit = spans.enter(FIT, 4);
    assertThat(spans.totals().snapshot().plannedEpochs).isEqualTo(4);
    assertThat(spans.totals().snapshot().timeLeft).isZero();
    epochOf(1_000);
    assertThat(spans.totals().snapshot().timeLeft).isEqualTo(3_000);
    epochOf(100); // The first epoch was warm-up.
    assertThat(spans.totals().snapshot().timeLeft).isEqualTo(200);
    epochOf(120);
    assertThat(spans.totals().snapshot().timeLeft).isEqualTo(110);
    epochOf(500);
    assertThat(spans.totals().snapshot().timeLeft).isZero();
    spans.exit(fit, null);
    assertThat(spans.totals().snapshot().plannedEpochs).isEqualTo(4);
    long once = spans.enter(FIT, 1); // Probably in a loop of the program.
    epochOf(100);
    assertThat(spans.totals().snapshot().plannedEpochs).isZero();
    assertThat(spans.totals().snapshot().timeLeft).isZero();
    spans.exit(once, null);
    assertThat(spans.totals().snapshot().plannedEpochs).isZero();

    long more = spans.enter(FIT, 10);
    long inner = spans.enter(FIT, 3); // A nested fit, not the program's.
    epochOf(100);
    spans.exit(inner, null);
    assertThat(spans.totals().snapshot().plannedEpochs).isEqualTo(15);
    spans.exit(more, null); // Training stops early.
    assertThat(spans.totals().snapshot().plannedEpochs).isZero();
    assertThat(spans.totals().snapshot().timeLeft).isZero();
  }

  @Test
  void epochsOfAnEarlierJobAreNotPlanned() {
    spans.exit(spans.enter(SKIPPED, 1), null); // No fit is running.
    long fit = spans.enter(FIT, 7);
    for (int epoch = 0; epoch < 2; epoch++) {
      tick(1);
      spans.exit(spans.enter(SKIPPED, 1), null);
    }
    assertThat(spans.totals().snapshot().plannedEpochs).isEqualTo(5);
    Object data = new Object(); // Its batches are taken again, its steps are skipped.
    long take = spans.enter(TAKE, data);
    spans.exit(take, new Object());
    spans.exit(spans.enter(SKIPPED, null), null);
    tick(10);
    spans.exit(spans.enter(ASK, data), false);
    assertThat(spans.totals().snapshot().plannedEpochs).isEqualTo(4);
    take = spans.enter(TAKE, data); // Its second step is the first to run.
    spans.exit(take, new Object());
    spans.exit(spans.enter(SKIPPED, null), null);
    epochOf(20, data);
    assertThat(spans.totals().snapshot().timeLeft).as("not a whole epoch").isZero();
    epochOf(1_000);
    assertThat(spans.totals().snapshot().timeLeft).isEqualTo(2_000);
    epochOf(700);
    assertThat(spans.totals().snapshot().timeLeft)
        .as("the epoch before was the warm-up")
        .isEqualTo(700);
    epochOf(700);
    spans.exit(fit, null);
    assertThat(spans.totals().snapshot().plannedEpochs).isEqualTo(4);
    assertThat(spans.totals().snapshot().epochs).isEqualTo(4);
  }

  @Test
  void theLastEpochAfterAResumeCountsAsDoneOnlyAtItsEnd() {
    long fit = spans.enter(FIT, 3);
    spans.exit(spans.enter(SKIPPED, 2), null);
    Object data = new Object();
    spans.exit(spans.enter(TAKE, data), new Object());
    span(UPDATE, 0);
    assertThat(spans.totals().snapshot().epochs).isEqualTo(1);
    assertThat(spans.totals().snapshot().plannedEpochs).as("would read as done").isZero();
    spans.exit(spans.enter(ASK, data), false);
    assertThat(spans.totals().snapshot().plannedEpochs).isEqualTo(1);
    spans.exit(fit, null);
    assertThat(spans.totals().snapshot().plannedEpochs).isEqualTo(1);
  }

  @Test
  void aTrainersEpochCountIsUsed() {
    Object trainer = new Object();
    spans.counts(counted -> counted == trainer ? 3 : 0);
    long other = spans.enter(FIT, new Object());
    epochOf(100);
    spans.exit(other, null);
    assertThat(spans.totals().snapshot().plannedEpochs).isZero();
    long fit = spans.enter(FIT, trainer);
    epochOf(100);
    assertThat(spans.totals().snapshot().timeLeft).isEqualTo(200);
    spans.exit(fit, null);
    assertThat(spans.totals().snapshot().plannedEpochs).as("it stopped early").isZero();
  }

  @Test
  void theMostFrequentCallerOfSystemGcIsKnown() {
    spans.exit(spans.enter(COLLECTION, "my.Before.training"), null);
    long fit = spans.enter(FIT, null);
    epochOf(100);
    assertThat(spans.totals().snapshot().explicitGcCaller).isNull();
    for (String caller : List.of("my.Some.times", "my.Loop.run", "my.Loop.run")) {
      spans.exit(spans.enter(COLLECTION, caller), null);
    }
    spans.exit(fit, null);
    assertThat(spans.totals().snapshot().explicitGcCaller).isEqualTo("my.Loop.run");
  }

  @Test
  void filesAreItemsOnlyWhileASampleIsLoaded() {
    assertThat(spans.loadingSample()).isFalse();
    long sample = spans.enter(SAMPLE, this);
    assertThat(spans.loadingSample()).isTrue();
    spans.exit(sample, null);
    assertThat(spans.loadingSample()).isFalse();
  }

  @Test
  void deepNestingIsSupported() {
    long first = spans.enter(SAMPLE, this);
    for (int i = 0; i < 1_000; i++) {
      spans.enter(TRANSFORM, this);
    }
    tick(3);
    spans.exit(first, null);
    assertThat(spans.totals().snapshot().transformTime).isEqualTo(3);
  }

  private static void runOnOtherThread(Runnable work) {
    Thread thread = new Thread(work);
    thread.start();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
