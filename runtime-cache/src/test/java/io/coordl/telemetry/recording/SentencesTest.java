package io.coordl.telemetry.recording;

import static io.coordl.telemetry.advice.FakeEvidence.SECOND;
import static io.coordl.telemetry.advice.FakeEvidence.decoded;
import static io.coordl.telemetry.advice.FakeEvidence.epoch;
import static io.coordl.telemetry.advice.FakeEvidence.epochs;
import static io.coordl.telemetry.advice.FakeEvidence.evidence;
import static io.coordl.telemetry.advice.FakeEvidence.figures;
import static io.coordl.telemetry.advice.FakeEvidence.only;
import static io.coordl.telemetry.advice.FakeEvidence.overlapping;
import static io.coordl.telemetry.advice.FakeEvidence.prepared;
import static io.coordl.telemetry.advice.FakeEvidence.refused;
import static io.coordl.telemetry.advice.FakeEvidence.store;
import static io.coordl.telemetry.advice.FakeEvidence.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanKind;
import io.coordl.peers.PeerSink;
import io.coordl.telemetry.advice.Advice;
import io.coordl.telemetry.advice.CheckedUnits;
import io.coordl.telemetry.advice.CoreWaits;
import io.coordl.telemetry.advice.Epochs;
import io.coordl.telemetry.advice.Evidence;
import io.coordl.telemetry.advice.Gpus;
import io.coordl.telemetry.advice.OpenWaitText;
import io.coordl.telemetry.advice.Sentence;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.GpuStatisticsEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.OpenWaitEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.VerdictEvent;
import io.coordl.tuning.SimulatedJob;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * For each {@link Sentence}, one job must get it and a similar job must not; the classes that
 * report sentences contain no other text.
 */
class SentencesTest {
  /** Labels, which are not sentences, and parts of formats. */
  private static final Set<String> NO_SENTENCES =
      Set.of(
          "data stall",
          "between epochs",
          "fetch stall",
          "prep stall",
          "GC stall",
          " stall",
          "items fetched",
          "images decoded",
          "the whole job",
          "(not shown)");

  /** Classes of the sentences themselves and of the units of figures. */
  private static final Set<String> NO_SPEAKERS =
      Set.of(
          "io/coordl/telemetry/advice/Sentence",
          "io/coordl/telemetry/advice/Text",
          "io/coordl/telemetry/advice/Text$Nanos",
          "io/coordl/telemetry/advice/Text$Bytes");

  private static final Pattern WORD = Pattern.compile("(?<![%\\w.])[A-Za-z]{2,}");
  private static final Pattern PLACE = Pattern.compile("%[-+,]?[\\d.]*([sdf])|%%");

  private record Case(Supplier<String> said, Supplier<String> not) {}

  private static final Map<Sentence, Case> CASES = new EnumMap<>(Sentence.class);

  private static void says(Supplier<String> yes, Supplier<String> no, Sentence... all) {
    for (Sentence sentence : all) {
      CASES.put(sentence, new Case(yes, no));
    }
  }

  // ---- advice

  private static String on(Evidence evidence) {
    return Advice.on(evidence).sentence();
  }

  private static String on(Figures totals, Epochs epochs, Map<String, String> given) {
    return on(evidence(totals, epochs, List.of(), given, "DJL", 1));
  }

  /** The advice on a job with one epoch. */
  private static String one(EpochEvent epoch, Map<String, String> given) {
    return on(epoch, only(epoch), given);
  }

  private static String one(long fetch, long prep, long gc, long queue, long checkpoint) {
    return one(figures(fetch, prep, gc, queue, checkpoint), Map.of());
  }

  private static String two(
      EpochEvent cold, EpochEvent warm, List<StoreStatisticsEvent> stores, int hosts) {
    Epochs both = epochs(epoch(1, "my.Images", cold), epoch(1, "my.Images", warm));
    Map<String, String> given = stores.isEmpty() ? Map.of() : Map.of("cache", "minio");
    return on(evidence(cold, both, stores, given, "DJL", hosts));
  }

  private static String computes() {
    return one(2, 0, 0, 0, 0);
  }

  private static String manyCauses() {
    return two(figures(3, 3, 2, 1, 0), figures(3, 3, 2, 1, 0), List.of(store(false)), 1);
  }

  private static String cached(StoreStatisticsEvent store, int hosts) {
    return two(figures(40, 10, 0, 0, 0), figures(40, 10, 0, 0, 0), List.of(store), hosts);
  }

  private static StoreStatisticsEvent vain() {
    StoreStatisticsEvent vain = store(false);
    vain.admitted = 4_000;
    return vain;
  }

  private static String gc(double explicit, @Nullable String caller) {
    JobStatisticsEvent job = new JobStatisticsEvent();
    job.add(figures(1, 2, 30, 3, 4));
    job.gcPauses = 30 * SECOND;
    job.explicitGcPauses = Math.round(explicit * job.gcPauses);
    job.explicitGcCaller = caller;
    return on(job, new Epochs(), Map.of());
  }

  private static String gcInSteps() {
    EpochEvent figures = figures(1, 2, 1, 3, 4);
    figures.gcPauses = 25 * SECOND;
    return one(figures, Map.of());
  }

  private static String checkpoints(Map<String, String> given) {
    return one(figures(1, 1, 0, 0, 20), given);
  }

  private static String withoutBytes() {
    EpochEvent figures = figures(40, 0, 0, 0, 0);
    figures.storageBytes = 0;
    return one(figures, Map.of());
  }

  /** The advice on a job whose steps wait for a core. */
  private static String cores(long cpu, long throttled, double cores) {
    EpochEvent figures = figures(1, 1, 0, 0, 0);
    figures.coreWait = 80 * SECOND;
    figures.computeCoreWait = 40 * SECOND;
    figures.cpu = cpu * SECOND;
    figures.throttled = throttled * SECOND;
    return on(with(evidence(figures, only(figures), Map.of()), cores));
  }

  private static String fewStepsWithoutACore() {
    EpochEvent figures = figures(1, 1, 1, 0, 0);
    figures.coreWait = 4 * SECOND;
    figures.computeCoreWait = 4 * SECOND;
    figures.cpu = 60 * SECOND;
    return on(with(evidence(figures, only(figures), Map.of()), 2));
  }

  private static final VerdictEvent NOT_PREPARED =
      refused("prepared=share", "my.Crop draws random numbers", "");

  private static final VerdictEvent NOT_PROVEN =
      refused("prepared=share", "my.Crop.count may change", "prepared=share:my.Crop");

  /** The advice on a job that waits for preparation and already caches decoded images. */
  private static String prep(String library, Map<String, String> given, VerdictEvent... verdicts) {
    return prep(library, List.of(decoded(false)), given, verdicts);
  }

  private static String prep(
      String library,
      List<StoreStatisticsEvent> stores,
      Map<String, String> given,
      VerdictEvent... verdicts) {
    EpochEvent figures = figures(10, 40, 0, 0, 0);
    return on(with(evidence(figures, only(figures), stores, given, library, 1), 4, verdicts));
  }

  private static String ownBatches() {
    EpochEvent figures = figures(10, 40, 0, 0, 0);
    Epochs own = epochs(epoch(1, "my.Job$Batches", figures));
    return on(evidence(figures, own, List.of(decoded(false)), Map.of(), "DJL", 1));
  }

  private static StoreStatisticsEvent ofJobs(long jobs) {
    StoreStatisticsEvent shared = decoded(false);
    shared.jobs = jobs;
    return shared;
  }

  private static String overlaps(Map<String, String> given) {
    EpochEvent figures = overlapping();
    figures.otherTime = figures.decodeTime;
    figures.decodeTime = 0;
    return on(with(evidence(figures, only(figures), given), 2, NOT_PREPARED));
  }

  private static String kernel(long faults) {
    JobStatisticsEvent job = new JobStatisticsEvent();
    job.add(figures(1, 50, 1, 1, 1));
    job.userTime = 60 * SECOND;
    job.kernelTime = 40 * SECOND;
    job.pageFaults = faults;
    return on(job, new Epochs(), Map.of());
  }

  private static String onlyLoads(long batches, Map<String, String> given) {
    JobStatisticsEvent job = new JobStatisticsEvent();
    job.loadedBatches = batches;
    return on(job, new Epochs(), given);
  }

  private static String neverCame(long waited) {
    JobStatisticsEvent job = new JobStatisticsEvent();
    job.add(figures(0, 0, 0, 30, 0));
    job.openWait = waited * SECOND;
    job.longestWait = SECOND;
    return on(job, new Epochs(), Map.of());
  }

  static {
    Supplier<String> computes = SentencesTest::computes;
    Supplier<String> storage = () -> one(40, 10, 0, 0, 0);
    says(() -> one(new EpochEvent(), Map.of()), computes, Sentence.NOTHING_MEASURED);
    says(
        () -> onlyLoads(5, Map.of()),
        () -> one(new EpochEvent(), Map.of()),
        Sentence.NOTHING_TRAINED);
    says(() -> onlyLoads(1, Map.of()), () -> onlyLoads(5, Map.of()), Sentence.BATCH_LOADED);
    says(() -> onlyLoads(5, Map.of()), () -> onlyLoads(1, Map.of()), Sentence.BATCHES_LOADED);
    says(
        () -> onlyLoads(5, Map.of()),
        () -> onlyLoads(5, Map.of("auto", "on")),
        Sentence.AUTO_WITHOUT_TRAINING);
    says(() -> one(figures(40, 0, 0, 0, 0), Map.of("profile", "all")), storage, Sentence.PROFILED);
    says(computes, storage, Sentence.COMPUTE_BOUND);
    says(SentencesTest::manyCauses, computes, Sentence.MOSTLY_COMPUTE_BOUND);
    says(
        SentencesTest::fewStepsWithoutACore,
        SentencesTest::manyCauses,
        Sentence.STEPS_WITHOUT_A_CORE);
    Supplier<String> fills = () -> one(figures(40, 1, 0, 0, 0), Map.of("cache", "minio"));
    Supplier<String> filled =
        () -> two(figures(40, 1, 0, 0, 0), figures(2, 1, 0, 0, 0), List.of(store(false)), 1);
    says(fills, filled, Sentence.CACHE_FILLS);
    says(filled, fills, Sentence.CACHE_FILLED);
    says(computes, () -> one(new EpochEvent(), Map.of()), Sentence.OF_THE_TIME);
    says(storage, computes, Sentence.WITH_ARGUMENTS, Sentence.PREDICTED);
    says(() -> neverCame(30), () -> neverCame(4), Sentence.FIND_OUT_WHY);
    says(() -> one(1, 2, 3, 30, 4), computes, Sentence.PREPARE_FURTHER_AHEAD, Sentence.QUEUED);

    Supplier<String> noCalls = () -> gc(0, null);
    Supplier<String> calls = () -> gc(0.6, null);
    says(calls, noCalls, Sentence.AVOID_GC_CALLS, Sentence.GC_CALLS, Sentence.GC_OF_THE_JDK);
    says(noCalls, calls, Sentence.LARGER_HEAP);
    says(noCalls, computes, Sentence.GC_STOPPED);
    says(SentencesTest::gcInSteps, noCalls, Sentence.GC_IN_STEPS);
    says(() -> gc(0.6, "my.Train.clean"), calls, Sentence.GC_CALLER);

    Supplier<String> plain = () -> checkpoints(Map.of());
    Supplier<String> async = () -> checkpoints(Map.of("checkpoint", "async"));
    Supplier<String> every =
        () -> checkpoints(Map.of("checkpoint", "async", "checkpoint.every", "5"));
    says(plain, async, Sentence.WRITE_IN_BACKGROUND, Sentence.WRITTEN);
    says(every, async, Sentence.FEWER_CHECKPOINTS);
    says(async, plain, Sentence.COPIED);
    says(async, every, Sentence.WRITE_LESS_OFTEN);

    Supplier<String> full = () -> cached(store(true), 1);
    Supplier<String> room = () -> cached(store(false), 1);
    Supplier<String> vain = () -> cached(vain(), 1);
    Supplier<String> hosts = () -> cached(store(true), 3);
    says(storage, full, Sentence.KEEP_IN_MEMORY, Sentence.STORAGE_WAITS);
    says(storage, SentencesTest::withoutBytes, Sentence.EPOCH_READS);
    says(vain, room, Sentence.FILES_CHANGE, Sentence.FILES_NOT_FOUND_AGAIN);
    says(room, vain, Sentence.NAME_THE_FILES, Sentence.CACHE_HAS_ROOM);
    says(full, hosts, Sentence.LARGER_CACHE);
    says(hosts, full, Sentence.LARGER_CACHES);
    says(full, room, Sentence.CACHE_FULL);

    Supplier<String> limit = () -> cores(199, 30, 1.5);
    Supplier<String> ownThreads = () -> cores(199, 0, 2);
    Supplier<String> others = () -> cores(60, 0, 2);
    says(limit, ownThreads, Sentence.LARGER_LIMIT, Sentence.CORES_OF_THE_LIMIT);
    says(limit, () -> cores(199, 30, 0), Sentence.LIMIT);
    says(ownThreads, others, Sentence.FEWER_THREADS, Sentence.CORES_OF_THIS_JOB);
    says(others, ownThreads, Sentence.FREE_CORES, Sentence.CORES_OF_OTHERS);
    says(others, computes, Sentence.CORE_WAITS);

    Supplier<String> once = () -> prep("DJL", Map.of());
    Supplier<String> ahead = () -> prep("DJL", Map.of(), NOT_PREPARED);
    Supplier<String> left = () -> prep("DJL", Map.of("prefetch", "2"), NOT_PREPARED);
    says(once, computes, Sentence.PREP_WAITS);
    says(() -> overlaps(Map.of()), once, Sentence.PREP_CORES);
    Map<String, String> share = Map.of("prepared", "share");
    says(
        () -> prep("DJL", List.of(prepared(true)), share),
        () -> prep("DJL", List.of(prepared(false)), share),
        Sentence.KEEP_MORE_PREPARED);
    says(once, ahead, Sentence.PREPARE_ONCE);
    says(() -> prep("DL4J", List.of(), Map.of(), NOT_PREPARED), ahead, Sentence.DECODE_ONCE);
    says(
        () -> prep("DL4J", List.of(decoded(true)), Map.of(), NOT_PREPARED),
        ahead,
        Sentence.KEEP_MORE_DECODED);
    says(ahead, once, Sentence.PREPARE_AHEAD);
    says(
        () -> prep("DJL", Map.of(), NOT_PREPARED, refused("prefetch", "it did nothing", "")),
        ahead,
        Sentence.PROGRAM_PREPARES_AHEAD);
    says(
        () -> prep("DL4J", List.of(ofJobs(2)), Map.of(), NOT_PREPARED),
        () -> prep("DL4J", List.of(ofJobs(1)), Map.of(), NOT_PREPARED),
        Sentence.PREPARE_FOR_ALL);
    says(SentencesTest::ownBatches, once, Sentence.OWN_BATCHES);
    says(() -> overlaps(Map.of("prefetch", "2")), () -> overlaps(Map.of()), Sentence.PREFETCH_LESS);
    Map<String, String> coordinated = Map.of("prep", "coordinate");
    says(() -> prep("DJL", coordinated), once, Sentence.MORE_THREADS);
    says(() -> prep("DJL", coordinated), () -> prep("DL4J", coordinated), Sentence.BY_PREFETCH);
    says(left, ahead, Sentence.CHEAPER_PREPARATION, Sentence.NOT_PREPARED);
    says(() -> overlaps(Map.of()), left, Sentence.MORE_CORES);
    says(() -> prep("DJL", Map.of("prefetch", "2"), NOT_PROVEN), left, Sentence.DECLARE);
    says(() -> kernel(90_000_000), () -> kernel(13_000_000), Sentence.FRESH_MEMORY);
  }

  // ---- the judged epochs

  private static String words(long updates, boolean complete, String... sources) {
    JobStatisticsEvent job = new JobStatisticsEvent();
    job.epochs = sources.length;
    job.updates = updates;
    Epochs epochs = new Epochs();
    for (String source : sources) {
      EpochEvent epoch = epoch(updates, source, figures(1, 1, 1, 1, 1));
      epoch.complete = complete;
      epochs.add(epoch);
    }
    return epochs.describe(job, false);
  }

  private static String models(long second) {
    Epochs epochs = new Epochs();
    for (int i = 0; i < 4; i++) {
      EpochEvent epoch = epoch(1, "my.A", figures(2, 0, 0, 0, 0));
      epoch.model = i == 0 ? second : 1;
      epochs.add(epoch);
    }
    return on(figures(2, 0, 0, 0, 0), epochs, Map.of());
  }

  static {
    EpochEvent quick = figures(2, 0, 0, 0, 0);
    Supplier<String> later = () -> two(quick, quick, List.of(), 1);
    Supplier<String> first =
        () -> on(quick, epochs(epoch(1, "my.A", quick), epoch(1, "my.B", quick)), Map.of());
    says(later, SentencesTest::computes, Sentence.SECOND_EPOCH_ON);
    says(SentencesTest::computes, later, Sentence.ONLY_EPOCH);
    says(first, SentencesTest::computes, Sentence.FIRST_EPOCH);
    says(() -> models(2), () -> models(1), Sentence.OF_MODEL);
    says(() -> words(0, true, "a"), () -> words(1, true, "a"), Sentence.NO_UPDATE);
    says(
        () -> words(0, true, "a", "b"),
        () -> words(0, true, "a"),
        Sentence.EPOCHS_OF,
        Sentence.OF_SOURCE);
    says(() -> words(1, false, "a"), () -> words(1, true, "a"), Sentence.LEFT_EARLY);
    says(() -> words(1, false, "a", "a"), () -> words(1, true, "a", "a"), Sentence.SOME_LEFT_EARLY);
    Supplier<String> notShared = () -> Epochs.shared(2, 3, true, true);
    says(notShared, () -> words(1, true, "a"), Sentence.SHARED);
    says(notShared, () -> Epochs.shared(3, 3, true, true), Sentence.NOT_SHARED);
  }

  // ---- the summary at exit

  private static String summary(Consumer<JobMonitor> job) {
    return summary(null, job);
  }

  private static String summary(@Nullable String recording, Consumer<JobMonitor> job) {
    AgentLog log = new AgentLog();
    JobMonitor monitor = new JobMonitor(List.of(), "main", log, new RewriteLog());
    job.accept(monitor);
    monitor.figures().freeze();
    return String.join("\n", new ExitSummary(monitor.figures(), recording, List.of()).lines());
  }

  /** The summary of a job whose argument did nothing; {@code said} is logged first if not empty. */
  private static String asked(String said) {
    AgentLog log = new AgentLog();
    if (!said.isEmpty()) {
      log.say(said);
    }
    JobMonitor monitor = new JobMonitor(List.of(), "main", log, new RewriteLog());
    monitor.addRequested("decoded=share", "decoded=share", () -> "no image was decoded");
    return String.join("\n", monitor.finish());
  }

  private static void trains(JobMonitor job) {
    Object iterator = new Object();
    span(job, SpanKind.TAKE, iterator, new Object());
    span(job, SpanKind.UPDATE, null, null);
    span(job, SpanKind.ASK, iterator, false);
  }

  private static void span(
      JobMonitor job, SpanKind kind, @Nullable Object subject, @Nullable Object result) {
    job.figures().spans().exit(job.figures().spans().enter(kind, subject), result);
  }

  private static void reads(JobMonitor job, Origin origin) {
    job.figures().spans().itemFetched("item", 0, 1, 1, origin);
  }

  private static String withStores(StoreStatisticsEvent... stores) {
    return summary(
        job -> {
          reads(job, Origin.STORAGE);
          Stream.of(stores).forEach(store -> job.addStore(() -> store, () -> {}));
        });
  }

  private static StoreStatisticsEvent used(String form, long hits, String order) {
    StoreStatisticsEvent store = new StoreStatisticsEvent();
    store.store = form;
    store.hits = hits;
    store.order = order;
    return store;
  }

  private static String staged(int pipelines, long slowest) {
    return summary(
        job -> {
          reads(job, Origin.STORAGE);
          List<StagingStatisticsEvent> all =
              IntStream.range(0, pipelines).mapToObj(i -> staging(slowest)).toList();
          job.addStaging(() -> all, () -> {});
        });
  }

  private static StagingStatisticsEvent staging(long slowest) {
    StagingStatisticsEvent staging = new StagingStatisticsEvent();
    staging.group = "g";
    staging.epochs = 1;
    staging.taken = 1;
    staging.slowestJob = slowest;
    return staging;
  }

  private static Figures waits(long cores, long gc, long preparing) {
    EpochEvent figures = figures(1, 1, 1, 1, 1);
    figures.computeCoreWait = cores;
    figures.gcPauses = figures.gcStall + gc;
    figures.prepCoreWait = preparing;
    return figures;
  }

  private static GpuStatisticsEvent gpu(long device, long busy, long own, long synchronizedSteps) {
    GpuStatisticsEvent gpu = new GpuStatisticsEvent();
    gpu.device = device;
    gpu.name = "H100";
    gpu.sampled = 100;
    gpu.busy = busy;
    gpu.ownMemory = own;
    gpu.synchronizedSteps = synchronizedSteps;
    return gpu;
  }

  private static String gpus(GpuStatisticsEvent... all) {
    return Gpus.line(List.of(all));
  }

  private static OpenWaitEvent openWait(String file) {
    OpenWaitEvent wait = new OpenWaitEvent();
    wait.thread = "main";
    wait.file = file;
    wait.reader = "loader";
    return wait;
  }

  static {
    Supplier<String> trained = () -> summary(SentencesTest::trains);
    Supplier<String> read = () -> summary(job -> reads(job, Origin.STORAGE));
    Supplier<String> nothing =
        () -> summary(job -> job.addPolicy(() -> "no policy did anything", () -> {}));
    Supplier<String> sized =
        () ->
            summary(
                job -> {
                  job.figures().spans().counts(batch -> 32);
                  trains(job);
                });
    says(trained, read, Sentence.TRAINING, Sentence.SHARE);
    says(sized, trained, Sentence.SPEED);
    says(
        () ->
            summary(
                job -> {
                  trains(job);
                  SpanRecorder spans = job.figures().spans();
                  spans.exit(spans.enter(SpanKind.TAKE, job), new IllegalStateException());
                }),
        trained,
        Sentence.FAILED_BATCHES);
    says(trained, nothing, Sentence.NEXT);
    says(() -> summary("job.jfr", SentencesTest::trains), trained, Sentence.RECORDING);
    says(
        () ->
            summary(
                job -> {
                  trains(job);
                  job.figures().log().fault("here", new IllegalStateException("x"), false);
                }),
        trained,
        Sentence.FAULTS);
    says(
        () -> CoreWaits.inSteps(waits(SECOND, 0, 0)),
        () -> CoreWaits.inPreparation(waits(0, 0, SECOND)),
        Sentence.IN_STEPS,
        Sentence.CORE_WAIT);
    says(
        () -> CoreWaits.inSteps(waits(0, SECOND, 0)),
        () -> CoreWaits.inSteps(waits(SECOND, 0, 0)),
        Sentence.GC_PAUSES);
    says(
        () -> CoreWaits.inPreparation(waits(0, 0, SECOND)),
        () -> CoreWaits.inSteps(waits(SECOND, 0, SECOND)),
        Sentence.PREPARING_CORE_WAIT);
    says(
        () -> OpenWaitText.soFar(openWait("")),
        () -> OpenWaitText.atEnd(openWait("")),
        Sentence.OPEN_WAIT);
    says(
        () -> OpenWaitText.atEnd(openWait("")),
        () -> OpenWaitText.soFar(openWait("")),
        Sentence.NEVER_CAME);
    says(
        () -> OpenWaitText.atEnd(openWait("a.jpg")),
        () -> OpenWaitText.atEnd(openWait("")),
        Sentence.LAST_FILE);

    Supplier<String> asked = () -> asked("");
    says(asked, trained, Sentence.DID_NOTHING);
    says(() -> asked("decoded=share leaves them alone."), asked, Sentence.IT_SAID);
    says(read, trained, Sentence.ITEMS, Sentence.WORK, Sentence.PERCENTILES);
    says(() -> summary(job -> reads(job, Origin.PEER)), read, Sentence.ITEMS_OF_PEERS);
    says(
        () ->
            summary(
                job -> {
                  reads(job, Origin.STORAGE);
                  span(job, SpanKind.DECODE, null, null);
                }),
        read,
        Sentence.WITH_ARRAYS,
        Sentence.WITHOUT_ARRAYS);
    says(() -> withStores(used("decoded", 3, "")), read, Sentence.STORE, Sentence.DECODED_HITS);
    says(
        () -> withStores(used("prepared", 3, "")),
        () -> withStores(used("decoded", 3, "")),
        Sentence.PREPARED_HITS);
    says(
        () -> withStores(used("decoded", 3, "first"), used("raw", 3, "second")),
        () -> withStores(used("decoded", 3, ""), used("raw", 3, "")),
        Sentence.SPLIT);
    says(
        () ->
            summary(
                job -> {
                  reads(job, Origin.STORAGE);
                  job.figures().peers().asked("a", 0, 1, 1, PeerSink.Answer.FOUND);
                }),
        read,
        Sentence.PEERS);
    says(() -> staged(1, 0), read, Sentence.STAGED);
    says(() -> staged(1, 77), () -> staged(1, 0), Sentence.WHO_WAITS);
    says(() -> staged(30, 0), () -> staged(1, 0), Sentence.MORE_PIPELINES);

    Supplier<String> gpu = () -> gpus(gpu(0, 50, 1, 0));
    Supplier<String> both = () -> gpus(gpu(0, 50, 1, 0), gpu(1, 40, 1, 0));
    Supplier<String> busy = () -> gpus(gpu(0, 100, 1, 0));
    says(gpu, both, Sentence.GPU);
    says(both, gpu, Sentence.GPUS, Sentence.GPU_LOWEST);
    says(() -> gpus(gpu(0, 50, 0, 0)), gpu, Sentence.GPU_OF_ANY);
    says(gpu, trained, Sentence.GPU_BUSY);
    says(busy, gpu, Sentence.GPU_AT_LEAST);
    says(gpu, busy, Sentence.GPU_LESS, Sentence.GPU_IDLE);
    says(() -> gpus(gpu(0, 50, 1, 40)), gpu, Sentence.GPU_SYNCHRONIZED);
  }

  // ---- prepared=check

  private static String checked(long compared, long differed, boolean kept, String remedy) {
    String reason = kept || compared == 0 ? "" : "it draws";
    return new CheckedUnits(
            "my.Data", "samples", compared, differed, "", true, kept, reason, remedy)
        .summary();
  }

  static {
    String remedy = "prepared=share:my.Data";
    Supplier<String> equal = () -> checked(4_000, 0, false, remedy);
    Supplier<String> differs = () -> checked(4_000, 1, false, remedy);
    Supplier<String> proven = () -> checked(4_000, 0, true, "");
    says(equal, differs, Sentence.CHECK_EQUAL, Sentence.CHECK_VOUCH);
    says(proven, equal, Sentence.CHECK_NOT_NEEDED);
    says(() -> checked(4_000, 0, false, ""), equal, Sentence.CHECK_IN_VAIN);
    says(differs, equal, Sentence.CHECK_DIFFERED, Sentence.CHECK_DO_NOT_VOUCH);
    says(() -> checked(4_000, 1, true, ""), differs, Sentence.CHECK_PART);
    says(() -> checked(0, 0, false, ""), equal, Sentence.CHECK_MADE_ONCE);
    says(
        () ->
            new CheckedUnits("my.Data", "samples", 0, 0, "they are text", false, false, "", "")
                .summary(),
        equal,
        Sentence.CHECK_LEFT);
    says(
        () -> new CheckedUnits("my.Data", "samples", 9, 0, "", false, false, "", remedy).summary(),
        equal,
        Sentence.CHECK_OTHERS);
  }

  // ---- auto

  static {
    Supplier<String> notSwitched =
        () -> new SimulatedJob(false, 0).hits(0).epoch(9, 50, 0, 0.01).summary();
    Supplier<String> noBatch = () -> new SimulatedJob(false, 0).hits(0).summary();
    Supplier<String> brought = () -> SimulatedJob.kept(100, 0.2);
    Supplier<String> atMost = () -> SimulatedJob.kept(400, 0.2);
    Supplier<String> vain = () -> SimulatedJob.kept(50, 0.6);
    says(notSwitched, noBatch, Sentence.WAITED);
    says(SimulatedJob::firstBatch, brought, Sentence.WAITED_FIRST);
    says(SimulatedJob::preparedBeside, brought, Sentence.WORKED);
    says(noBatch, brought, Sentence.NOT_SWITCHED);
    says(() -> new SimulatedJob(false, 0).summary(), noBatch, Sentence.NOTHING_ELSE_SWITCHED);
    says(noBatch, notSwitched, Sentence.NO_BATCH);
    says(() -> new SimulatedJob(false, 0).loaded(3).summary(), noBatch, Sentence.FEW_LOADED);
    says(brought, notSwitched, Sentence.KEPT, Sentence.DATA_KEPT, Sentence.SPEEDS);
    says(SimulatedJob::unused, brought, Sentence.KEPT_IN_VAIN);
    says(brought, vain, Sentence.BROUGHT, Sentence.DATA_USED);
    says(atMost, brought, Sentence.BROUGHT_AT_MOST);
    says(vain, brought, Sentence.DROPPED, Sentence.DATA_DROPPED);
    says(vain, () -> brought.get().lines().skip(2).findFirst().orElseThrow(), Sentence.NO_EFFECT);

    says(() -> SimulatedJob.kept(8, 100, 0.2), vain, Sentence.TOO_FEW_STEPS);

    Supplier<String> faster = () -> SimulatedJob.prefetched(1, 60);
    Supplier<String> slower = () -> SimulatedJob.prefetched(1, 40);
    Supplier<String> faster2 = () -> SimulatedJob.prefetched(2, 60);
    says(faster, notSwitched, Sentence.PREFETCHING, Sentence.PREFETCH_TRIAL);
    says(faster, slower, Sentence.ON, Sentence.PREFETCH_ON);
    says(slower, faster, Sentence.OFF, Sentence.PREFETCH_OFF);
    says(faster, notSwitched, Sentence.PREFETCH_EFFECT, Sentence.ONE_THREAD);
    says(faster2, faster, Sentence.THREADS);
    says(SentencesTest::unclear, faster, Sentence.PREFETCH_NO_EFFECT);
    says(() -> SimulatedJob.prefetched(1, 80), faster, Sentence.PREFETCH_ROUGH_EFFECT);
    says(SimulatedJob::restarted, faster, Sentence.PREFETCH_UNMEASURED);
    says(SimulatedJob::switchedBack, brought, Sentence.SWITCHED_BACK);
  }

  /** Speeds that change by chance from second to second. */
  private static String unclear() {
    SimulatedJob job = new SimulatedJob(true, 1);
    int[] speeds = {50, 46, 55, 47, 53, 56, 45, 50, 54, 46};
    for (int i = 0; i < 40; i++) {
      int speed = speeds[i % speeds.length];
      job.epoch(1, speed, speed + i % 3 - 1, 0.3);
    }
    return job.summary();
  }

  // ---- epochs of a running job

  /** Returns the lines about epochs of 20 s; each change modifies one epoch. */
  @SafeVarargs
  private static String epochLines(JobStatisticsEvent totals, Consumer<EpochEvent>... changes) {
    List<String> said = new ArrayList<>();
    AtomicLong now = new AtomicLong();
    EpochLines lines = new EpochLines(said::addAll, now::get, () -> totals, () -> false);
    for (Consumer<EpochEvent> change : changes) {
      EpochEvent epoch = new EpochEvent();
      epoch.source = "data";
      epoch.complete = true;
      epoch.updates = 100;
      epoch.batches = 100;
      epoch.wall = 20 * SECOND;
      epoch.compute = epoch.wall;
      change.accept(epoch);
      now.addAndGet(epoch.wall);
      lines.accept(epoch);
    }
    return String.join("\n", said);
  }

  @SafeVarargs
  private static String epochLines(Consumer<EpochEvent>... changes) {
    return epochLines(new JobStatisticsEvent(), changes);
  }

  /** Lets an epoch wait for GC and compute longer, by these numbers of seconds. */
  private static Consumer<EpochEvent> slower(long stall, long compute) {
    return epoch -> {
      epoch.compute += compute * SECOND;
      epoch.gcStall = stall * SECOND;
      epoch.stall = epoch.gcStall;
      epoch.wall = epoch.compute + epoch.stall;
    };
  }

  static {
    Consumer<EpochEvent> plain = epoch -> {};
    Consumer<EpochEvent> quick = epoch -> epoch.wall = 6 * SECOND;
    Supplier<String> one = () -> epochLines(plain);
    Supplier<String> two = () -> epochLines(quick, quick);
    Supplier<String> slow = () -> epochLines(plain, plain, slower(20, 0));
    Supplier<String> nothing =
        () -> summary(job -> job.addPolicy(() -> "no policy did anything", () -> {}));
    says(one, two, Sentence.ONE_EPOCH);
    says(two, one, Sentence.SEVERAL_EPOCHS);
    says(one, nothing, Sentence.EPOCHS);
    says(() -> epochLines(epoch -> epoch.model = 2), one, Sentence.ANOTHER_MODEL);
    says(() -> epochLines(epoch -> epoch.samples = 3_200), one, Sentence.EPOCH_SPEED);
    says(
        () -> epochLines(epoch -> epoch.computeCoreWait = 8 * SECOND),
        () -> epochLines(epoch -> epoch.computeCoreWait = SECOND / 2),
        Sentence.WITHOUT_A_CORE);
    says(() -> epochLines(epoch -> epoch.checkpoint = SECOND), one, Sentence.CHECKPOINTS);
    says(
        () ->
            epochLines(
                epoch -> {
                  epoch.items = 10;
                  epoch.memoryItems = 5;
                }),
        () -> epochLines(epoch -> epoch.items = 10),
        Sentence.FROM_MEMORY);
    JobStatisticsEvent planned = new JobStatisticsEvent();
    planned.plannedEpochs = 3;
    planned.timeLeft = 60 * SECOND;
    says(() -> epochLines(planned, plain), one, Sentence.EPOCHS_LEFT);
    says(slow, () -> epochLines(plain, plain, slower(2, 0)), Sentence.SLOWER, Sentence.GROWN);
    says(() -> epochLines(plain, plain, slower(20, 20)), slow, Sentence.BOTH_GROWN);
  }

  // ---- the tests

  /** Returns a pattern that matches a sentence with its figures filled in. */
  private static Pattern pattern(Sentence sentence) {
    String format = sentence.format();
    Matcher place = PLACE.matcher(format);
    StringBuilder pattern = new StringBuilder();
    int from = 0;
    while (place.find()) {
      pattern.append(Pattern.quote(format.substring(from, place.start())));
      String kind = place.group(1);
      pattern.append(
          kind == null
              ? "%"
              : kind.equals("s") ? ".*" : kind.equals("d") ? "[\\d,]+" : "[-+\\d.]+");
      from = place.end();
    }
    return Pattern.compile(pattern + Pattern.quote(format.substring(from)));
  }

  @ParameterizedTest
  @EnumSource(Sentence.class)
  void eachSentenceIsSaidWhereItIsTrueAndNotWhereItIsNot(Sentence sentence) {
    assertThat(CASES).as("a job that gets it, and one that must not").containsKey(sentence);
    Case of = CASES.get(sentence);
    assertThat(of.said().get()).containsPattern(pattern(sentence));
    assertThat(of.not().get()).isNotBlank().doesNotContainPattern(pattern(sentence));
  }

  /** Classes of the advice and of {@code auto}, and those that write epoch lines and summaries. */
  static Stream<String> speakers() throws IOException, URISyntaxException {
    Path classes =
        Path.of(Sentence.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<String> names =
        new ArrayList<>(
            List.of(
                "io/coordl/telemetry/recording/EpochLines",
                "io/coordl/telemetry/recording/EpochLines$Source",
                "io/coordl/telemetry/recording/ExitSummary",
                "io/coordl/telemetry/recording/JobFigures",
                "io/coordl/telemetry/recording/WaitWatch"));
    for (String folder : List.of("telemetry/advice", "tuning")) {
      try (Stream<Path> files = Files.list(classes.resolve("io/coordl").resolve(folder))) {
        files
            .map(file -> classes.relativize(file).toString())
            .filter(file -> file.endsWith(".class") && !file.endsWith("package-info.class"))
            .map(file -> file.replace(".class", ""))
            .forEach(names::add);
      }
    }
    assertThat(names).hasSizeGreaterThan(15);
    return names.stream().filter(name -> !NO_SPEAKERS.contains(name));
  }

  @ParameterizedTest
  @MethodSource("speakers")
  void classesThatReportSentencesContainNoOtherText(String name) throws IOException {
    assertThat(texts(name))
        .filteredOn(text -> text.contains(" ") && WORD.matcher(text).find())
        .isSubsetOf(NO_SENTENCES);
  }

  @Test
  void aTextInAClassFileIsFound() throws IOException {
    assertThat(texts(SentencesTest.class.getName().replace('.', '/')))
        .contains("Labels" + " of a class file: ")
        .anyMatch(text -> text.contains(" is a recipe of a concatenation"));
    assertThat("Labels of a class file: " + CASES.size() + " is a recipe of a concatenation")
        .isNotEmpty();
  }

  /** All string constants of a class file, including the recipes of concatenations. */
  private static List<String> texts(String name) throws IOException {
    String file = "/" + name + ".class";
    List<String> utf8 = new ArrayList<>();
    List<Integer> strings = new ArrayList<>();
    try (InputStream bytes = SentencesTest.class.getResourceAsStream(file);
        DataInputStream in = new DataInputStream(bytes)) {
      in.skipNBytes(8);
      int count = in.readUnsignedShort();
      for (int i = 1; i < count; i++) {
        utf8.add("");
        int tag = in.readUnsignedByte();
        switch (tag) {
          case 1 -> utf8.set(i - 1, in.readUTF());
          case 8 -> strings.add(in.readUnsignedShort());
          case 7, 16, 19, 20 -> in.skipNBytes(2);
          case 15 -> in.skipNBytes(3);
          case 5, 6 -> {
            in.skipNBytes(8);
            utf8.add("");
            i++;
          }
          default -> in.skipNBytes(4);
        }
      }
    }
    return strings.stream().map(at -> utf8.get(at - 1)).collect(Collectors.toList());
  }
}
