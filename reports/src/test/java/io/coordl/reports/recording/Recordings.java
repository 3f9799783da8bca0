package io.coordl.reports.recording;

import io.coordl.telemetry.event.AgentEvents;
import io.coordl.telemetry.event.BatchEvent;
import io.coordl.telemetry.event.ConfigurationEvent;
import io.coordl.telemetry.event.DataStallEvent;
import io.coordl.telemetry.event.DecodeEvent;
import io.coordl.telemetry.event.EnvironmentEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.FaultEvent;
import io.coordl.telemetry.event.FetchEvent;
import io.coordl.telemetry.event.HostEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.LibraryEvent;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import io.coordl.telemetry.event.PhaseEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StepEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.TransformEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jdk.jfr.Event;
import jdk.jfr.Recording;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Writes real recordings of real agent events with known values. */
public final class Recordings {
  static {
    AgentEvents.register();
  }

  public static final long SECOND = 1_000_000_000L;
  public static final long MILLISECOND = 1_000_000L;

  /** All event types of the agent. */
  public static final List<Class<? extends Event>> EVENTS = AgentEvents.ALL;

  private static final Map<Runnable, JobRecording> KNOWN = new ConcurrentHashMap<>();

  private Recordings() {}

  /** Records what the action emits. */
  public static Path record(Path file, Runnable action) throws IOException {
    try (Recording recording = start()) {
      action.run();
      recording.dump(file);
    }
    return file;
  }

  /**
   * Records the events and reads them back with steps. Cached per JVM by {@code events}, because
   * recording takes half a second.
   */
  public static JobRecording read(Runnable events) throws IOException, RecordingException {
    JobRecording known = KNOWN.get(events);
    if (known == null) {
      Path file = Files.createTempFile("job", ".jfr");
      try {
        known = RecordingReader.readSteps(record(file, events), done -> {});
      } finally {
        Files.delete(file);
      }
      KNOWN.put(events, known);
    }
    return known;
  }

  public static Recording start() {
    Recording recording = new Recording();
    recording.setToDisk(true);
    EVENTS.forEach(event -> recording.enable(event).withThreshold(Duration.ZERO));
    recording.enable("jdk.JVMInformation");
    recording.start();
    return recording;
  }

  /** Starts a new chunk in all recordings, as happens in a long job. */
  public static void nextChunk() {
    try (Recording other = new Recording()) {
      other.start();
    }
  }

  /** Emits a job of three epochs, 100 batches each: one cold, two warm; 130 s in all. */
  public static void emitJob() {
    emitConfiguration("cache", "minio");
    emitEpoch(1, 70 * SECOND, 40 * SECOND);
    nextChunk();
    emitTotals(1, 100, 70 * SECOND, 40 * SECOND);
    emitEpoch(2, 30 * SECOND, SECOND);
    emitStore(1_000, 1_000);
    emitStaging("a1", 10);
    emitEpoch(3, 30 * SECOND, SECOND);
    emitTotals(3, 300, 130 * SECOND, 42 * SECOND);
    emitEnvironment(24);
    emitStore(2_000, 1_000);
    emitStaging("a1", 20);
    emitStaging("b2", 6);
    emitLatency("fetch", 0, 2 * MILLISECOND, 40 * MILLISECOND);
    emitLatency("fetch", 3, 1, 2);
    emitLatency("decode", 0, 3 * MILLISECOND, 5 * MILLISECOND);
    emitLatency("step", 0, 200 * MILLISECOND, 210 * MILLISECOND);
  }

  public static void emitEnvironment(long cores) {
    EnvironmentEvent event = new EnvironmentEvent();
    event.agent = "0.1.0";
    event.libraries = "DJL 0.35.1";
    event.host = "node-7";
    event.system = "Linux 6.1, amd64";
    event.cores = cores;
    event.memory = 256L << 30;
    event.commit();
  }

  /**
   * Emits the path of the agent's own recording; null if only a user's recording has the events.
   */
  public static void emitRecording(@Nullable Path file) {
    EnvironmentEvent event = new EnvironmentEvent();
    event.recording = file == null ? null : file.toString();
    event.commit();
  }

  /** Emits the totals of a running job. */
  public static void emitTotalsSoFar(long epochs, long batches, long wall, long fetchStall) {
    JobStatisticsEvent event = totals(epochs, batches, wall, fetchStall);
    event.running = true;
    event.plannedEpochs = 9;
    event.timeLeft = 60 * SECOND;
    event.commit();
  }

  public static void emitConfiguration(String key, String value) {
    emitConfiguration(key, value, "argument");
  }

  static void emitConfiguration(String key, String value, String origin) {
    ConfigurationEvent event = new ConfigurationEvent();
    event.key = key;
    event.value = value;
    event.origin = origin;
    event.commit();
  }

  /** Emits an epoch of 100 batches: {@code fetchStall} plus 3 s of prep, GC and queue stalls. */
  public static void emitEpoch(long number, long wall, long fetchStall) {
    emitEpoch(number, wall, fetchStall, number == 1);
  }

  /** Emits an epoch that reads every item from storage. */
  public static void emitColdEpoch(long number, long wall, long fetchStall) {
    emitEpoch(number, wall, fetchStall, true);
  }

  private static void emitEpoch(long number, long wall, long fetchStall, boolean cold) {
    epoch(number, wall, fetchStall, cold).commit();
  }

  private static EpochEvent epoch(long number, long wall, long fetchStall, boolean cold) {
    EpochEvent event = new EpochEvent();
    event.epoch = number;
    event.updates = 100;
    event.source = "my.Images";
    event.dataset = "my.Images";
    event.complete = true;
    event.wall = wall;
    event.batches = 100;
    event.samples = 3_200;
    event.compute = wall - fetchStall - 4 * SECOND;
    event.stall = fetchStall + 3 * SECOND;
    event.fetchStall = fetchStall;
    event.prepStall = 2 * SECOND;
    event.gcStall = SECOND / 4;
    event.queueStall = SECOND * 3 / 4;
    event.checkpoint = SECOND;
    event.fetchTime = fetchStall;
    event.decodeTime = 7 * SECOND;
    event.transformTime = 5 * SECOND;
    event.otherTime = 3 * SECOND;
    event.items = 1_000;
    event.memoryItems = cold ? 0 : 1_000;
    event.storageItems = cold ? 1_000 : 0;
    event.memoryBytes = cold ? 0 : 100_000_000;
    event.storageBytes = cold ? 100_000_000 : 0;
    return event;
  }

  /** Emits an epoch with unknown batch sizes. */
  public static void emitUnsizedEpoch(long number, long wall) {
    EpochEvent event = epoch(number, wall, SECOND, false);
    event.samples = 0;
    event.commit();
  }

  /** Emits an evaluation of 20 batches that takes 8 s, over a data set of the same class. */
  public static void emitEvaluation(long number) {
    EpochEvent event = epoch(number, 8 * SECOND, SECOND, false);
    event.updates = 0;
    event.batches = 20;
    event.samples = 640;
    event.commit();
  }

  /** Emits an epoch with twice the samples, in batches twice the size, of a different data set. */
  public static void emitDoubleSizeEpoch(long number, long wall) {
    EpochEvent event = epoch(number, wall, SECOND, false);
    event.samples = 6_400;
    event.dataset = "my.OtherImages";
    event.commit();
  }

  /** Emits the totals of a different program. */
  public static void emitOtherTotals(long epochs, long wall) {
    JobStatisticsEvent event = totals(epochs, 100 * epochs, wall, SECOND);
    event.mainClass = "my.Other --epochs 3";
    event.commit();
  }

  public static void emitTotals(long epochs, long batches, long wall, long fetchStall) {
    emitLibrary();
    totals(epochs, batches, wall, fetchStall).commit();
  }

  /** Emits a library that supports {@code prefetch=N}. */
  public static void emitLibrary() {
    LibraryEvent event = new LibraryEvent();
    event.name = "DJL";
    event.packages = "ai.djl.";
    event.prefetched = true;
    event.commit();
  }

  private static JobStatisticsEvent totals(long epochs, long batches, long wall, long fetchStall) {
    JobStatisticsEvent event = new JobStatisticsEvent();
    event.mainClass = "my.Train --epochs 3";
    event.frameworks = "DJL 0.35.1";
    event.epochs = epochs;
    event.wall = wall;
    event.batches = batches;
    event.samples = 32 * batches;
    event.updates = batches;
    event.compute = wall - fetchStall - epochs * 4 * SECOND;
    event.stall = fetchStall + epochs * 3 * SECOND;
    event.fetchStall = fetchStall;
    event.prepStall = epochs * 2 * SECOND;
    event.gcStall = epochs * SECOND / 4;
    event.queueStall = epochs * SECOND * 3 / 4;
    event.checkpoint = epochs * SECOND;
    event.fetchTime = fetchStall;
    event.decodeTime = epochs * 7 * SECOND;
    event.transformTime = epochs * 5 * SECOND;
    event.otherTime = epochs * 3 * SECOND;
    event.items = epochs * 1_000;
    event.memoryItems = (epochs - 1) * 1_000;
    event.storageItems = 1_000;
    event.memoryBytes = (epochs - 1) * 100_000_000;
    event.storageBytes = 100_000_000;
    return event;
  }

  public static void emitStore(long hits, long misses) {
    emitStore(hits, misses, 1_000, 0);
  }

  /** Emits a store that was too full for some items. */
  public static void emitFullStore(long admitted, long bypassed) {
    emitStore(0, admitted + bypassed, admitted, bypassed);
  }

  private static void emitStore(long hits, long misses, long admitted, long bypassed) {
    store(hits, misses, admitted, bypassed).commit();
  }

  private static StoreStatisticsEvent store(long hits, long misses, long admitted, long bypassed) {
    StoreStatisticsEvent event = new StoreStatisticsEvent();
    event.store = "raw";
    event.scope = "process";
    event.group = "images";
    event.capacity = 1L << 30;
    event.used = 1L << 28;
    event.items = admitted;
    event.hits = hits;
    event.misses = misses;
    event.admitted = admitted;
    event.bypassed = bypassed;
    event.full = bypassed > 0;
    event.hitBytes = hits * 100_000;
    event.order = "first";
    event.itemBytes = 100_000;
    event.itemSaves = 2_000_000;
    event.jobs = 1;
    return event;
  }

  /** Emits a store of decoded items with hits. */
  public static void emitDecodedStore(long hits) {
    StoreStatisticsEvent event = store(hits, 600, 600, 0);
    event.store = "decoded";
    event.commit();
  }

  /** Emits an epoch on one of three hosts: 300 items local, 600 from peers, 100 from storage. */
  public static void emitPartitionedEpoch(long number, long wall, long fetchStall) {
    EpochEvent event = epoch(number, wall, fetchStall, false);
    event.memoryItems = 300;
    event.peerItems = 600;
    event.storageItems = 100;
    event.memoryBytes = 30_000_000;
    event.peerBytes = 60_000_000;
    event.storageBytes = 10_000_000;
    event.commit();
  }

  /** Emits the statistics of one peer. Most values are distinct, so mixed-up fields show. */
  public static void emitPeer(String peer, long found, long late) {
    PeerStatisticsEvent event = new PeerStatisticsEvent();
    event.peer = peer;
    event.found = found;
    event.absent = 301;
    event.kept = 202;
    event.late = late;
    event.failed = 3;
    event.receivedBytes = found * 100_000;
    event.sentBytes = 20_200_000;
    event.foundTime = found * MILLISECOND;
    event.keptTime = 400 * MILLISECOND;
    event.lostTime = (late + 3) * 400 * MILLISECOND;
    event.commit();
  }

  /**
   * Emits three epochs of a job on three hosts; the last two read 10 % of the items from storage.
   */
  public static void emitPartitionedJob() {
    emitConfiguration("cache", "minio");
    emitConfiguration("peer", "node1:7800");
    emitColdEpoch(1, 70 * SECOND, 40 * SECOND);
    emitPartitionedEpoch(2, 30 * SECOND, 3 * SECOND);
    emitPartitionedEpoch(3, 30 * SECOND, 3 * SECOND);
    JobStatisticsEvent totals = totals(3, 300, 130 * SECOND, 46 * SECOND);
    totals.memoryItems = 600;
    totals.peerItems = 1_200;
    totals.storageItems = 1_200;
    totals.memoryBytes = 60_000_000;
    totals.peerBytes = 120_000_000;
    totals.storageBytes = 120_000_000;
    totals.commit();
    StoreStatisticsEvent store = store(600, 2_400, 300, 1_000);
    store.peer = 1_200;
    store.peerBytes = 120_000_000;
    store.commit();
    emitPeer("node1:7801", 700, 2);
    emitPeer("node2:7801", 500, 0);
    emitLatency("peer found", 0, MILLISECOND, 4 * MILLISECOND);
  }

  public static void emitStaging(String pipeline, long taken) {
    StagingStatisticsEvent event = new StagingStatisticsEvent();
    event.group = "search";
    event.pipeline = pipeline;
    event.capacity = 1L << 30;
    event.slots = 50;
    event.slotBytes = 20_000_000;
    event.jobs = 2;
    event.epochs = 3;
    event.sharedEpochs = 2;
    event.prepared = taken / 2;
    event.taken = taken;
    event.takenBytes = 20_000_000 * taken;
    event.late = 1;
    event.lost = 2;
    event.waited = 3 * SECOND;
    event.waitedFor = 2 * SECOND;
    event.slowestJob = 4711;
    event.waitedForSlowest = SECOND;
    event.updates = 12;
    event.commit();
  }

  /** Emits one phase of a profile. Most values are distinct, so mixed-up fields show. */
  public static void emitPhase() {
    PhaseEvent event = new PhaseEvent();
    event.phase = "cold";
    event.workers = 2;
    event.warmupSteps = 3;
    event.steps = 100;
    event.samples = 3_200;
    event.wall = 7 * SECOND + 1;
    event.sampleNanos = 2_187_500.5;
    event.sampleNanosError = 1_000.25;
    event.compute = SECOND + 2;
    event.stall = 6 * SECOND + 3;
    event.fetchStall = 4 * SECOND + 4;
    event.prepStall = SECOND + 5;
    event.gcStall = SECOND / 2 + 6;
    event.queueStall = SECOND / 2 + 7;
    event.fetchTime = 5 * SECOND + 8;
    event.otherTime = 2 * SECOND + 9;
    event.cpu = 3 * SECOND + 12;
    event.items = 3_200;
    event.memoryBytes = 10;
    event.storageBytes = 320_000_011;
    event.steady = true;
    event.note = "direct reads";
    event.commit();
  }

  /** Emits the figures of a host, with a distinct value in every field. */
  public static void emitHost() {
    HostEvent event = new HostEvent();
    event.cores = 2;
    event.memory = (8L << 30) + 1;
    event.freeMemory = (4L << 30) + 2;
    event.memoryRate = 5_000_000_003L;
    event.storageRate = 120_000_004;
    event.storageRateError = 1_000_005;
    event.storageThreads = 4;
    event.storageAccess = "direct";
    event.datasetItems = 1_000;
    event.datasetBytes = 100_000_006;
    event.decodedItemBytes = 150_528;
    event.decodeNanos = 3_000_000.75;
    event.commit();
  }

  public static void emitLatency(String kind, long epoch, long p50, long p99) {
    LatencyStatisticsEvent event = new LatencyStatisticsEvent();
    event.kind = kind;
    event.epoch = epoch;
    event.count = 3_000;
    event.total = 3_000 * p50;
    event.minimum = p50 / 2;
    event.mean = p50;
    event.p50 = p50;
    event.p90 = p50 + 1;
    event.p99 = p99;
    event.p999 = p99 + 1;
    event.maximum = p99 + 2;
    event.histogram = "HISTFAAAA";
    event.commit();
  }

  public static void emitFault(String where, String cause) {
    FaultEvent event = new FaultEvent();
    event.where = where;
    event.cause = cause;
    event.action = "the file was read from storage";
    event.commit();
  }

  /** Emits this many fetch events, as a job without thresholds would. */
  public static void emitFetches(int count) {
    for (int i = 0; i < count; i++) {
      FetchEvent event = new FetchEvent();
      event.begin();
      event.batch = i / 32;
      event.path = "/data/image";
      event.bytes = 100_000;
      event.fetchTime = 2 * MILLISECOND;
      event.origin = "storage";
      event.commit();
    }
  }

  /** Emits the frequent events of an epoch: a stall, items, a batch and a step for each batch. */
  public static void emitBatches(long epoch, int count, String folder) {
    for (int i = 0; i < count; i++) {
      long batch = epoch * 1_000 + i;
      DataStallEvent stall = new DataStallEvent();
      stall.begin();
      for (int item = 0; item < 4; item++) {
        emitFetch(batch, folder + "/image-" + (i * 4 + item) % 40 + ".jpg", (item + 1) * 200_000L);
        DecodeEvent decode = new DecodeEvent();
        decode.begin();
        decode.batch = batch;
        decode.codec = "my.Jpeg";
        decode.commit();
        TransformEvent transform = new TransformEvent();
        transform.begin();
        transform.batch = batch;
        transform.transform = item % 2 == 0 ? "my.Crop" : "my.Flip";
        transform.commit();
      }
      BatchEvent prepared = new BatchEvent();
      prepared.begin();
      prepared.batch = batch;
      prepared.fetch = 2 * MILLISECOND;
      prepared.decode = 3 * MILLISECOND;
      prepared.transform = MILLISECOND;
      prepared.other = MILLISECOND / 2;
      prepared.items = 4;
      prepared.source = "my.Images";
      prepared.commit();
      stall.batch = batch;
      stall.epoch = epoch;
      stall.wait = 10 * MILLISECOND;
      stall.fetch = 4 * MILLISECOND;
      stall.prep = 3 * MILLISECOND;
      stall.gc = 2 * MILLISECOND;
      stall.queue = MILLISECOND;
      stall.commit();
      StepEvent step = new StepEvent();
      step.begin();
      step.batch = batch;
      step.epoch = epoch;
      step.compute = 8 * MILLISECOND;
      step.checkpoint = MILLISECOND;
      step.commit();
    }
  }

  /** Emits one step per duration (ns): 32 samples each, a quarter of the time waiting. */
  public static void emitSteps(long epoch, double... nanos) {
    for (int i = 0; i < nanos.length; i++) {
      emitStep(epoch, epoch * 1_000 + i, (long) nanos[i]);
    }
  }

  static void emitStep(long epoch, long batch, long nanos) {
    DataStallEvent stall = new DataStallEvent();
    stall.batch = batch;
    stall.epoch = epoch;
    stall.wait = nanos / 4;
    stall.prep = nanos / 4;
    stall.commit();
    BatchEvent prepared = new BatchEvent();
    prepared.batch = batch;
    prepared.samples = 32;
    prepared.decode = nanos / 8;
    prepared.other = nanos / 16;
    prepared.commit();
    StepEvent step = new StepEvent();
    step.batch = batch;
    step.epoch = epoch;
    step.compute = nanos - nanos / 4;
    step.commit();
  }

  public static void emitFetch(long batch, @Nullable String path, long nanos) {
    FetchEvent event = new FetchEvent();
    event.begin();
    event.batch = batch;
    event.path = path;
    event.bytes = 100_000;
    event.fetchTime = nanos;
    event.memory = batch % 2 == 0;
    event.origin = event.memory ? "memory" : "storage";
    event.commit();
  }

  /** Emits the latency distribution of one kind, as the agent writes it. */
  public static void emitHistogram(String kind, Histogram histogram) {
    LatencyStatisticsEvent event = new LatencyStatisticsEvent();
    event.kind = kind;
    event.count = histogram.getTotalCount();
    event.total = (long) (histogram.getMean() * event.count);
    event.minimum = histogram.getMinValue();
    event.mean = (long) histogram.getMean();
    event.p50 = histogram.getValueAtPercentile(50);
    event.p90 = histogram.getValueAtPercentile(90);
    event.p99 = histogram.getValueAtPercentile(99);
    event.p999 = histogram.getValueAtPercentile(99.9);
    event.maximum = histogram.getMaxValue();
    event.histogram = encoded(histogram);
    event.commit();
  }

  public static String encoded(Histogram histogram) {
    ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(buffer);
    return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
  }
}
