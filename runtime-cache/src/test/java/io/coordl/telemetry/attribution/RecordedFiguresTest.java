package io.coordl.telemetry.attribution;

import static io.coordl.bridge.SpanKind.ASK;
import static io.coordl.bridge.SpanKind.BATCH;
import static io.coordl.bridge.SpanKind.CHECKPOINT;
import static io.coordl.bridge.SpanKind.COMPUTE;
import static io.coordl.bridge.SpanKind.CONVERT;
import static io.coordl.bridge.SpanKind.DECODE;
import static io.coordl.bridge.SpanKind.EPOCH;
import static io.coordl.bridge.SpanKind.FIT;
import static io.coordl.bridge.SpanKind.PRODUCER;
import static io.coordl.bridge.SpanKind.SAMPLE;
import static io.coordl.bridge.SpanKind.TAKE;
import static io.coordl.bridge.SpanKind.TRANSFORM;
import static io.coordl.bridge.SpanKind.UPDATE;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanKind;
import io.coordl.host.CoreTimes;
import io.coordl.telemetry.event.AgentEvents;
import io.coordl.telemetry.event.BatchEvent;
import io.coordl.telemetry.event.CheckpointEvent;
import io.coordl.telemetry.event.DataStallEvent;
import io.coordl.telemetry.event.DecodeEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.EventSink;
import io.coordl.telemetry.event.FetchEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.StepEvent;
import io.coordl.telemetry.event.TransformEvent;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import jdk.jfr.Event;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The figures of a job's events, on a clock that only the test moves. */
class RecordedFiguresTest {
  static {
    AgentEvents.register();
  }

  private static final List<Class<? extends Event>> EVENTS =
      List.of(
          BatchEvent.class,
          CheckpointEvent.class,
          DataStallEvent.class,
          DecodeEvent.class,
          EpochEvent.class,
          FetchEvent.class,
          StepEvent.class,
          TransformEvent.class);

  private final AtomicLong clock = new AtomicLong(5_000);
  private final AtomicLong gc = new AtomicLong();
  private final List<String> durations = new ArrayList<>();

  /** Writes events to a JFR recording. */
  private static final EventSink JFR = (event, start, end) -> event.commit();

  private final SpanRecorder spans =
      new SpanRecorder(
          new EventLog(),
          new Durations() {
            @Override
            public void record(Kind kind, long nanos) {
              durations.add(kind.label() + " " + nanos);
            }

            @Override
            public void epochEnded(long epoch) {
              durations.add("epoch " + epoch);
            }
          },
          gc::get,
          clock::get);

  private final List<Object> kept = new ArrayList<>();

  @TempDir Path folder;

  private void tick(long nanos) {
    clock.addAndGet(nanos);
  }

  private void span(SpanKind kind, Object subject, long nanos) {
    long token = spans.enter(kind, subject);
    tick(nanos);
    spans.exit(token, null);
  }

  private Object batch() {
    Object batch = new Object();
    kept.add(batch);
    return batch;
  }

  /**
   * Takes a batch of two items, prepared while the training thread waits for it, and trains on it.
   */
  private void takeAndStep(Object data, long compute) {
    long take = spans.enter(TAKE, data);
    long sample = spans.enter(SAMPLE, this);
    spans.fetchTime(clock.get(), clock.addAndGet(300));
    spans.itemFetched("near", 0, 300, 40, Origin.MEMORY);
    span(DECODE, String.class, 50);
    spans.exit(sample, null);
    sample = spans.enter(SAMPLE, this);
    spans.fetchTime(clock.get(), clock.addAndGet(100));
    spans.itemFetched("far", 0, FetchEvent.SLOW_NANOS, 60, Origin.STORAGE);
    spans.exit(sample, null);
    span(TRANSFORM, "a transform", 20);
    gc.addAndGet(100);
    tick(30);
    spans.exit(take, batch());
    tick(compute);
  }

  /** Returns the fields of each event with this name. */
  private List<Map<String, Object>> recorded(String name, Runnable job) throws IOException {
    Path file = folder.resolve("job.jfr");
    try (Recording recording = new Recording()) {
      EVENTS.forEach(event -> recording.enable(event).withoutThreshold().withoutStackTrace());
      recording.start();
      job.run();
      recording.dump(file);
    }
    return events(file, name);
  }

  private static List<Map<String, Object>> events(Path file, String name) throws IOException {
    List<Map<String, Object>> found = new ArrayList<>();
    for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
      if (event.getEventType().getName().equals("io.coordl." + name)) {
        Map<String, Object> fields = new TreeMap<>();
        event.getFields().forEach(f -> fields.put(f.getName(), event.getValue(f.getName())));
        found.add(fields);
      }
    }
    return found;
  }

  private void train() {
    spans.counts(batch -> 32);
    spans.events().open(JFR);
    long fit = spans.enter(FIT, null);
    Object data = new ArrayList<>();
    takeAndStep(data, 900);
    span(CHECKPOINT, "a model", 70);
    tick(30);
    takeAndStep(data, 500);
    long ask = spans.enter(ASK, data);
    tick(4);
    spans.exit(ask, false);
    spans.exit(fit, null);
  }

  @Test
  void aBatchRecordsThePartsOfItsPreparation() throws IOException {
    List<Map<String, Object>> batches = recorded("Batch", this::train);
    assertThat(batches).hasSize(2);
    assertThat(batches.get(0))
        .containsEntry("batch", 1L)
        .containsEntry("samples", 32L)
        .containsEntry("fetch", 320L)
        .containsEntry("decode", 40L)
        .containsEntry("transform", 16L)
        .containsEntry("other", 24L)
        .containsEntry("items", 2L)
        .containsEntry("source", "java.util.ArrayList");
    assertThat(batches.get(1)).containsEntry("batch", 2L);
  }

  @Test
  void aStallRecordsItsCauses() throws IOException {
    List<Map<String, Object>> stalls = recorded("DataStall", this::train);
    assertThat(stalls).hasSize(2);
    assertThat(stalls.get(0))
        .containsEntry("batch", 1L)
        .containsEntry("epoch", 1L)
        .containsEntry("wait", 500L)
        .containsEntry("fetch", 320L)
        .containsEntry("prep", 80L)
        .containsEntry("gc", 100L)
        .containsEntry("queue", 0L);
  }

  @Test
  void aStepExcludesItsCheckpoint() throws IOException {
    List<Map<String, Object>> steps = recorded("Step", this::train);
    assertThat(steps).hasSize(2);
    assertThat(steps.get(0))
        .containsEntry("batch", 1L)
        .containsEntry("epoch", 1L)
        .containsEntry("compute", 930L)
        .containsEntry("checkpoint", 70L);
    assertThat(steps.get(1))
        .containsEntry("batch", 2L)
        .containsEntry("compute", 500L)
        .containsEntry("checkpoint", 0L);
  }

  @Test
  void anEpochIsTheSumOfItsBatches() throws IOException {
    List<Map<String, Object>> epochs = recorded("Epoch", this::train);
    assertThat(epochs).hasSize(1);
    assertThat(epochs.get(0))
        .containsEntry("epoch", 1L)
        .containsEntry("complete", true)
        .containsEntry("batches", 2L)
        .containsEntry("samples", 64L)
        .containsEntry("wall", 2_504L)
        .containsEntry("compute", 1_430L)
        .containsEntry("stall", 1_004L)
        .containsEntry("fetchStall", 640L)
        .containsEntry("prepStall", 160L)
        .containsEntry("gcStall", 200L)
        .containsEntry("queueStall", 4L)
        .containsEntry("checkpoint", 70L)
        .containsEntry("gcPauses", 200L)
        .containsEntry("fetchTime", 640L)
        .containsEntry("decodeTime", 80L)
        .containsEntry("transformTime", 32L)
        .containsEntry("otherTime", 48L)
        .containsEntry("source", "java.util.ArrayList");
    assertThat(durations)
        .containsExactly(
            "fetch 300",
            "decode 50",
            "fetch " + FetchEvent.SLOW_NANOS,
            "transform 20",
            "batch 500",
            "stall 500",
            "checkpoint 70",
            "fetch 300",
            "decode 50",
            "fetch " + FetchEvent.SLOW_NANOS,
            "transform 20",
            "batch 500",
            "step 930",
            "stall 500",
            "step 500",
            "epoch 1");
  }

  @Test
  void decodesTransformsFetchesAndCheckpointsAreNamed() throws IOException {
    List<Map<String, Object>> decoded = recorded("Decode", this::train);
    assertThat(decoded).hasSize(2);
    assertThat(decoded.get(0))
        .containsEntry("batch", 1L)
        .containsEntry("codec", "java.lang.String");
    Path file = folder.resolve("job.jfr");
    assertThat(events(file, "Transform"))
        .hasSize(2)
        .first()
        .satisfies(
            e ->
                assertThat(e).containsEntry("batch", 1L).containsEntry("transform", "a transform"));
    assertThat(events(file, "Checkpoint"))
        .singleElement()
        .satisfies(
            e -> {
              e.remove("stackTrace"); // A field of the JDK; not recorded.
              assertThat(e)
                  .containsEntry("model", "a model")
                  .as("every column has a value")
                  .doesNotContainValue(null);
            });
    assertThat(events(file, "Fetch"))
        .hasSize(2)
        .first()
        .satisfies(
            e ->
                assertThat(e)
                    .containsEntry("batch", 1L)
                    .containsEntry("path", "far")
                    .containsEntry("bytes", 60L)
                    .containsEntry("fetchTime", FetchEvent.SLOW_NANOS));
  }

  @Test
  void onlyTheOutermostDecodeIsAnEventAndItsTimeCountsOnce() throws IOException {
    List<Map<String, Object>> decoded =
        recorded(
            "Decode",
            () -> {
              spans.events().open(JFR);
              long outer = spans.enter(DECODE, "outer");
              span(DECODE, "inner", 10);
              tick(5);
              spans.exit(outer, null);
              span(CONVERT, "its array", 7);
            });
    assertThat(decoded).as("one image, one event").hasSize(1);
    assertThat(spans.totals().snapshot().decodeTime).isEqualTo(22);
    assertThat(durations).containsExactly("decode 15");
  }

  @Test
  void onlyTheOutermostTransformIsAnEventAndItsTimeCountsOnce() throws IOException {
    List<Map<String, Object>> transformed =
        recorded(
            "Transform",
            () -> {
              spans.events().open(JFR);
              long outer = spans.enter(TRANSFORM, null);
              span(TRANSFORM, "inner", 10);
              tick(5);
              spans.exit(outer, null);
            });
    assertThat(transformed).hasSize(1);
    assertThat(transformed.get(0)).containsEntry("transform", null);
    assertThat(spans.totals().snapshot().transformTime).isEqualTo(15);
    assertThat(durations).containsExactly("transform 15");
  }

  @Test
  void aPreparingThreadIsCountedWhileItPrepares() throws Exception {
    Preparers preparers = spans.preparers();
    Thread worker =
        new Thread(
            () -> {
              long producer = spans.enter(PRODUCER, null);
              assertThat(spans.batchOfThisThread()).isZero();
              for (int i = 0; i < 3; i++) {
                long one = spans.enter(BATCH, "reader");
                assertThat(preparers.busy()).isEqualTo(1);
                assertThat(spans.batchOfThisThread()).isEqualTo(i + 1);
                assertThat(spans.isBatchGet()).isFalse();
                spans.exit(one, batch());
                assertThat(preparers.busy()).isZero();
              }
              spans.exit(producer, null);
            });
    List<Throwable> failures = new ArrayList<>();
    worker.setUncaughtExceptionHandler((thread, failure) -> failures.add(failure));
    worker.start();
    worker.join();
    assertThat(failures).isEmpty();
    assertThat(preparers.batches()).isEqualTo(3);
    assertThat(preparers.peak()).isEqualTo(1);
  }

  @Test
  void aBatchMadeByTheTrainingThreadIsNotAPreparersBatch() {
    train();
    assertThat(spans.preparers().batches()).isZero();
    assertThat(spans.preparers().peak()).isZero();
  }

  @Test
  void onlyATrainingThreadOutsideAWaitGetsBatches() {
    assertThat(spans.isBatchGet()).isFalse();
    long fit = spans.enter(FIT, null);
    assertThat(spans.isBatchGet()).isTrue();
    long take = spans.enter(TAKE, this);
    assertThat(spans.isBatchGet()).isFalse();
    assertThat(spans.batchOfThisThread()).isPositive();
    spans.exit(take, batch());
    assertThat(spans.batchOfThisThread()).isZero();
    long producer = spans.enter(PRODUCER, null);
    assertThat(spans.isBatchGet()).isFalse();
    spans.exit(producer, null);
    long batch = spans.enter(BATCH, "reader");
    assertThat(spans.isBatchGet()).isFalse();
    spans.exit(batch, null);
    assertThat(spans.isBatchGet()).isTrue();
    spans.exit(fit, null);
  }

  @Test
  void aWaitKeepsItsBatchAfterAProducerInsideIt() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, this);
    long mine = spans.batchOfThisThread();
    long producer = spans.enter(PRODUCER, null);
    assertThat(spans.batchOfThisThread()).isZero();
    spans.exit(producer, null);
    assertThat(spans.batchOfThisThread()).isEqualTo(mine);
    spans.exit(take, batch());
    spans.exit(fit, null);
  }

  @Test
  void samplesAreLoadedInsideEverySpanThatMakesBatches() {
    for (SpanKind kind : List.of(SAMPLE, BATCH, PRODUCER, TAKE)) {
      assertThat(spans.loadingSample()).as("before %s", kind).isFalse();
      long token = spans.enter(kind, this);
      assertThat(spans.loadingSample()).as("in %s", kind).isTrue();
      spans.exit(token, null);
    }
    assertThat(spans.loadingSample()).isFalse();
  }

  @Test
  void aSampleOutsideABatchIsOtherTime() {
    span(SAMPLE, this, 12);
    assertThat(spans.totals().snapshot().otherTime).isEqualTo(12);
    long batch = spans.enter(BATCH, this);
    span(SAMPLE, this, 30);
    spans.exit(batch, batch());
    assertThat(spans.totals().snapshot().otherTime).isEqualTo(42);
  }

  // ---- training

  @Test
  void updatesAndEndsOfEpochsAreCounted() {
    assertThat(spans.updates()).isZero();
    span(UPDATE, null, 1);
    span(UPDATE, null, 1);
    span(COMPUTE, null, 1);
    assertThat(spans.updates()).isEqualTo(2);
    assertThat(spans.epochEnds()).isZero();
    train();
    assertThat(spans.epochEnds()).isEqualTo(1);
  }

  @Test
  void waitsOfAThreadNotYetTrainingAreBounded() {
    for (int i = 0; i < 200; i++) {
      long take = spans.enter(TAKE, this);
      tick(1);
      spans.exit(take, batch());
    }
    assertThat(spans.totals().snapshot().batches).isZero();
    span(COMPUTE, null, 1);
    assertThat(spans.totals().snapshot().batches).isBetween(1L, 64L);
  }

  @Test
  void theStepRunningAtTheEndOfTheJobCounts() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, this);
    spans.exit(take, batch());
    tick(77);
    spans.finish();
    assertThat(spans.totals().snapshot().compute).isEqualTo(77);
    assertThat(durations).contains("step 77", "epoch 1");
    spans.exit(fit, null);
  }

  @Test
  void theStepRunningAtTheEndOfTheJobExtendsTheJob() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, this);
    tick(3);
    spans.exit(take, batch());
    tick(77);
    spans.finish();
    assertThat(spans.totals().snapshot().wall).isEqualTo(80);
    spans.exit(fit, null);
  }

  @Test
  void aThreadThatUpdatesAModelTrains() {
    long take = spans.enter(TAKE, this);
    tick(9);
    spans.exit(take, batch());
    assertThat(spans.totals().snapshot().batches).isZero();
    span(UPDATE, null, 1);
    assertThat(spans.totals().snapshot().batches).isEqualTo(1);
    assertThat(spans.totals().snapshot().stall).isEqualTo(9);
  }

  @Test
  void onlyAPassThatEndedBeforeTrainingIsDiscarded() {
    Object statistics = new Object();
    Object data = new Object();
    for (Object each : List.of(statistics, data)) {
      long take = spans.enter(TAKE, each);
      tick(5);
      spans.exit(take, batch());
    }
    spans.exit(spans.enter(ASK, statistics), false);
    span(COMPUTE, null, 1);
    assertThat(spans.totals().snapshot().batches).isEqualTo(1);
    assertThat(spans.totals().snapshot().stall).isEqualTo(5);
  }

  @Test
  void aWaitForABatchThatTheThreadMakesItselfIsPreparation() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, this);
    tick(10); // The iterator does something else first.
    long inner = spans.enter(BATCH, "reader");
    tick(50);
    Object batch = batch();
    spans.exit(inner, batch);
    spans.exit(take, batch);
    spans.exit(fit, null);
    Figures totals = spans.totals().snapshot();
    assertThat(totals.stall).isEqualTo(60);
    assertThat(totals.prepStall).isEqualTo(60);
    assertThat(totals.queueStall).isZero();
  }

  @Test
  void fetchesInsideADecodeAreNotDecoding() {
    long decode = spans.enter(DECODE, this);
    tick(10);
    spans.fetchTime(clock.get(), clock.addAndGet(40));
    spans.exit(decode, null);
    assertThat(spans.totals().snapshot().decodeTime).isEqualTo(10);
    assertThat(spans.totals().snapshot().fetchTime).isEqualTo(40);
    spans.fetchTime(0, 5); // Outside any span.
    assertThat(spans.totals().snapshot().fetchTime).isEqualTo(45);
  }

  @Test
  void aProducersBatchOnATrainingThreadIsNotAWait() {
    long fit = spans.enter(FIT, null);
    long producer = spans.enter(PRODUCER, null);
    long batch = spans.enter(BATCH, "reader");
    assertThat(spans.isBatchGet()).isFalse();
    spans.exit(batch, null);
    spans.exit(producer, null);
    spans.exit(fit, null);
  }

  @Test
  void aResetEndsTheStepAndTheEpoch() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, this);
    spans.exit(take, batch());
    tick(40);
    span(EPOCH, this, 0);
    tick(1_000);
    assertThat(durations).contains("step 40", "epoch 1");
    assertThat(spans.totals().snapshot().compute).isEqualTo(40);
    spans.exit(fit, null);
  }

  @Test
  void aWaitEndsWhenNextThrows() {
    long fit = spans.enter(FIT, null);
    long take = spans.enter(TAKE, this);
    spans.exit(take, batch());
    take = spans.enter(TAKE, this);
    tick(500);
    spans.exit(take, null);
    take = spans.enter(TAKE, this);
    tick(6);
    spans.exit(take, batch());
    assertThat(durations).contains("stall 6");
    assertThat(spans.totals().snapshot().stall).isEqualTo(506);
    spans.exit(fit, null);
  }

  // ---- sums

  @Test
  void batchesAndStallsAddUp() {
    DataStallEvent stall = new DataStallEvent();
    stall.wait = 100;
    stall.fetch = 10;
    stall.prep = 20;
    stall.gc = 30;
    stall.queue = 40;
    Figures sum = new EpochEvent();
    for (int i = 0; i < 2; i++) {
      Figures part = new EpochEvent();
      part.addBatch(32);
      part.compute = 2;
      part.checkpoint = 3;
      part.addStall(stall);
      sum.add(part);
    }
    assertThat(List.of(sum.batches, sum.samples, sum.compute, sum.checkpoint))
        .containsExactly(2L, 64L, 4L, 6L);
    assertThat(List.of(sum.stall, sum.fetchStall, sum.prepStall, sum.gcStall, sum.queueStall))
        .containsExactly(200L, 20L, 40L, 60L, 80L);
  }

  /** A figure missing from {@code add} would stay 0, one missing from {@code subtract} 42. */
  @Test
  void everyFigureAddsUp() throws IllegalAccessException {
    Figures one = new EpochEvent();
    for (Field field : Figures.class.getFields()) {
      field.setLong(one, 21);
    }
    Figures sum = new EpochEvent();
    sum.add(one);
    sum.add(one);
    for (Field field : Figures.class.getFields()) {
      assertThat(field.getLong(sum)).as(field.getName()).isEqualTo(42);
    }
    sum.subtract(one);
    for (Field field : Figures.class.getFields()) {
      assertThat(field.getLong(sum)).as(field.getName()).isEqualTo(21);
    }
  }

  @Test
  void oneBatchOfUnknownSizeMakesTheSampleCountUnknown() {
    Figures sum = new EpochEvent();
    sum.addBatch(32);
    sum.addBatch(8);
    assertThat(sum.samples).isEqualTo(40);
    sum.wall = 2_000_000_000;
    assertThat(sum.samplesPerSecond()).isEqualTo(20);
    Figures unknown = new EpochEvent();
    unknown.addBatch(0);
    unknown.addBatch(32);
    assertThat(unknown.samples).isZero();
    sum.add(unknown);
    sum.addBatch(32);
    assertThat(sum.samples).isZero();
    assertThat(sum.samplesPerSecond()).isZero();
    assertThat(sum.batches).isEqualTo(5);
  }

  @Test
  void eachEpochCountsWorkSinceThePreviousEpoch() {
    JobTotals totals = new JobTotals(() -> 0);
    for (int epoch = 1; epoch <= 3; epoch++) {
      totals.fetchTime.add(epoch);
      totals.decodeTime.add(2L * epoch);
      totals.transformTime.add(3L * epoch);
      totals.otherTime.add(4L * epoch);
      for (int item = 0; item < epoch; item++) {
        totals.fetched(Origin.MEMORY, 5);
        totals.fetched(Origin.PEER, 6);
        totals.fetched(Origin.STORAGE, 7);
      }
      EpochEvent delta = new EpochEvent();
      totals.epochEnded(delta, 0);
      assertThat(
              List.of(
                  delta.fetchTime,
                  delta.decodeTime,
                  delta.transformTime,
                  delta.otherTime,
                  delta.memoryItems,
                  delta.peerItems,
                  delta.storageItems,
                  delta.memoryBytes,
                  delta.peerBytes,
                  delta.storageBytes))
          .as("epoch %d", epoch)
          .containsExactly(
              1L * epoch,
              2L * epoch,
              3L * epoch,
              4L * epoch,
              1L * epoch,
              1L * epoch,
              1L * epoch,
              5L * epoch,
              6L * epoch,
              7L * epoch);
      assertThat(delta.items).isEqualTo(3L * epoch);
    }
  }

  @Test
  void eachEpochCountsCpuTimeSinceThePreviousEpoch() {
    JobTotals totals = new JobTotals(() -> 0);
    AtomicLong cpu = new AtomicLong(1_000);
    totals.cores(
        new CoreTimes() {
          @Override
          public long ofThread() {
            return 0;
          }

          @Override
          public void ofProcess(Figures figures) {
            figures.cpu = cpu.get();
            figures.coreWait = 2 * cpu.get();
            figures.throttled = 3 * cpu.get();
            figures.pressure = 4 * cpu.get();
          }
        });
    totals.recordActivity(0, 0, 0);
    for (long epoch = 1; epoch <= 3; epoch++) {
      cpu.addAndGet(epoch);
      EpochEvent delta = new EpochEvent();
      totals.epochEnded(delta, 0);
      assertThat(delta.cpu).isEqualTo(epoch);
      assertThat(delta.coreWait).isEqualTo(2 * epoch);
      assertThat(delta.throttled).isEqualTo(3 * epoch);
      assertThat(delta.pressure).isEqualTo(4 * epoch);
    }
    assertThat(totals.snapshot().cpu).isEqualTo(6);
  }

  @Test
  void theJobLastsFromItsFirstRequestToItsLastActivity() {
    JobTotals totals = new JobTotals(() -> 0);
    totals.recordWrite(0, 50); // Before there is a job.
    assertThat(totals.snapshot().wall).isZero();
    totals.recordActivity(100, 200, 0);
    totals.recordActivity(90, 150, 0); // Another thread began and ended earlier.
    assertThat(totals.snapshot().wall).isEqualTo(110);
    totals.recordWrite(150, 260); // 60 of the 110 ns are new.
    assertThat(totals.snapshot().wall).isEqualTo(170);
    totals.recordActivity(300, 310, 0);
    assertThat(totals.snapshot().wall).isEqualTo(220);
    totals.recordWrite(300, 305);
    assertThat(totals.snapshot().wall).isEqualTo(220);
  }

  @Test
  void aWaitOfManyCallsIsTheSumOfThem() {
    WaitIntervals waits = new WaitIntervals();
    for (int i = 0; i < 9; i++) {
      waits.add(10L * i, 10L * i + 4);
    }
    assertThat(waits.total).isEqualTo(36);
    assertThat(waits.start()).isZero();
    assertThat(waits.overlap(0, 100)).isEqualTo(36);
    assertThat(waits.overlap(2, 12)).isEqualTo(4);
    assertThat(waits.overlap(4, 10)).isZero();
    assertThat(waits.overlap(80, 84)).isEqualTo(4);
    waits.clear();
    assertThat(waits.isEmpty()).isTrue();
    assertThat(waits.total).isZero();
  }

  @Test
  void recentBatchesAreFoundOnceByIdentity() {
    RecentBatches recent = new RecentBatches();
    List<BatchRecord> records = new ArrayList<>();
    List<Object> batches = new ArrayList<>();
    for (int i = 0; i < 257; i++) {
      BatchRecord record = new BatchRecord(new AtomicLong(), i, 0);
      records.add(record);
      batches.add(new String("equal"));
      recent.put(batches.get(i), record);
    }
    assertThat(recent.take(batches.get(0))).as("too long ago").isNull();
    for (int i = 1; i < 257; i++) {
      assertThat(recent.take(batches.get(i))).isSameAs(records.get(i));
      assertThat(recent.take(batches.get(i))).as("taken once").isNull();
    }
    for (int i : new int[] {0, 1, 2}) { // Each is found among the rest.
      recent.put(batches.get(i), records.get(i));
    }
    for (int i : new int[] {1, 0, 2}) {
      assertThat(recent.take(batches.get(i))).isSameAs(records.get(i));
    }
    assertThat(recent.take(batches.get(1))).as("none is left").isNull();
  }

  @Test
  void theFetchShareIsAtMostOne() {
    BatchRecord record = new BatchRecord(new AtomicLong(6), 100, 0);
    record.event.fetch += 30;
    assertThat(record.fetchShare()).as("not ended").isZero();
    assertThat(record.id()).isEqualTo(7);
    record.finish(200, null, "a batch", spans);
    assertThat(record.fetchShare()).isEqualTo(0.3);
    assertThat(record.event.other).isEqualTo(70);

    BatchRecord threads = new BatchRecord(new AtomicLong(), 100, 0);
    threads.event.fetch += 330;
    threads.finish(200, null, "a batch", spans);
    assertThat(threads.fetchShare()).isEqualTo(1.0);
    assertThat(threads.event.other).isZero();
  }

  @Test
  void theSharesOfAWaitAddUpToIt() {
    WaitIntervals wait = new WaitIntervals();
    wait.add(0, 100);
    BatchRecord batch = new BatchRecord(new AtomicLong(), 20, 0);
    batch.event.fetch += 15;
    batch.finish(80, null, "a batch", spans);
    assertThat(divided(wait, 50, batch)).containsExactly(100L, 8L, 42L, 50L, 0L);
    assertThat(divided(wait, 500, batch)).containsExactly(100L, 0L, 0L, 100L, 0L);
    assertThat(divided(wait, 50, null)).containsExactly(100L, 0L, 0L, 0L, 100L);
    assertThat(divided(new WaitIntervals(), 0, batch)).containsExactly(0L, 0L, 0L, 0L, 0L);
  }

  private static List<Long> divided(WaitIntervals wait, long pauses, @Nullable BatchRecord batch) {
    DataStallEvent stall = new DataStallEvent();
    wait.divide(stall, pauses, batch, WaitIntervals.DataSetWait.NONE, true);
    return List.of(stall.wait, stall.fetch, stall.prep, stall.gc, stall.queue);
  }
}
