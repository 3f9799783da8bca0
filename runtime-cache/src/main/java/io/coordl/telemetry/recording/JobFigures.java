package io.coordl.telemetry.recording;

import io.coordl.gpu.GpuSampler;
import io.coordl.host.KernelCores;
import io.coordl.host.Machine;
import io.coordl.peers.PeerSink;
import io.coordl.profile.Profile;
import io.coordl.telemetry.advice.Arguments;
import io.coordl.telemetry.advice.Evidence;
import io.coordl.telemetry.advice.Sentence;
import io.coordl.telemetry.attribution.Durations;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.ConfigurationEvent;
import io.coordl.telemetry.event.EnvironmentEvent;
import io.coordl.telemetry.event.EventSink;
import io.coordl.telemetry.event.GpuStatisticsEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.LibraryEvent;
import io.coordl.telemetry.event.OpenWaitEvent;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.VerdictEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * The figures of this job: spans, distributions, stores, policies, settings and faults. Policies
 * add what they count; the recording, the exit summary, the live view and the metrics read it.
 * {@link #freeze} fixes every total when the job ends. One per JVM. Safe for concurrent use.
 */
public final class JobFigures {
  private static final int MAX_VERDICTS = 64;

  private final AgentLog log;
  final Latencies latencies;
  private final SpanRecorder spans;
  private final PeerLog peers;
  final RewriteLog rewrites;
  private final List<Supplier<StoreStatisticsEvent>> stores = new CopyOnWriteArrayList<>();
  private final List<Supplier<String>> policies = new CopyOnWriteArrayList<>();
  private final List<Supplier<List<StagingStatisticsEvent>>> stagings =
      new CopyOnWriteArrayList<>();
  private final List<Supplier<String>> unused = new CopyOnWriteArrayList<>();
  private final Map<String, LibraryEvent> libraries = new ConcurrentSkipListMap<>();
  private final Map<String, VerdictEvent> verdicts = new ConcurrentSkipListMap<>();
  private final List<Setting> settings;
  private final String mainClass;
  private final GcClock gc = new GcClock();
  private final WaitWatch waits;
  private volatile @Nullable GpuSampler sampler;
  private volatile @Nullable Profile profile;
  private volatile @Nullable AtEnd atEnd;
  private volatile String agent = "";
  private volatile @Nullable String recording;
  private volatile boolean recordingRefused;

  JobFigures(List<Setting> settings, String mainClass, AgentLog log, RewriteLog rewrites) {
    this.settings = List.copyOf(settings);
    this.mainClass = mainClass;
    this.log = log;
    this.rewrites = rewrites;
    this.latencies = new Latencies(log.events);
    this.spans = new SpanRecorder(log.events, latencies, gc);
    this.spans.cores(new KernelCores());
    this.peers = new PeerLog(spans, latencies);
    this.waits = new WaitWatch(spans, log::say);
  }

  public SpanRecorder spans() {
    return spans;
  }

  public AgentLog log() {
    return log;
  }

  /** Receives the figures of requests to other hosts; any thread may call it. */
  public PeerSink peers() {
    return peers;
  }

  /** Starts counting explicit collections, for an agent of this version. */
  void start(String version) {
    agent = version;
    gc.listenForCauses();
  }

  String agent() {
    return agent;
  }

  // ---- adding figures

  void addStore(Supplier<StoreStatisticsEvent> store) {
    stores.add(store);
  }

  void addPolicy(Supplier<String> report) {
    policies.add(report);
  }

  void addStaging(Supplier<List<StagingStatisticsEvent>> figures) {
    stagings.add(figures);
  }

  void profile(Profile made) {
    profile = made;
  }

  void sampler(GpuSampler made) {
    sampler = made;
  }

  /**
   * Sets the file of the recording.
   *
   * @param file path of the recording; null if there is none
   * @param refused whether a recording was requested but cannot be written
   */
  void recordedIn(@Nullable String file, boolean refused) {
    recording = file;
    recordingRefused = refused;
  }

  /**
   * Adds a policy or data set that the user requested: if it did nothing, the summary and the
   * recording report why.
   *
   * @param argument the argument as written, such as {@code cache=minio}
   * @param name prefix of log messages that explain more than {@code why}
   * @param why returns, when the job ends, why it did nothing; empty if it did something
   */
  void addRequested(String argument, String name, Supplier<String> why) {
    unused.add(
        () -> {
          String reason;
          try {
            reason = why.get();
          } catch (RuntimeException e) {
            return ""; // The rest of the summary matters more.
          }
          if (reason.isEmpty()) {
            return "";
          }
          String report = log.messageAbout(name);
          String because = report.isEmpty() ? reason : Sentence.IT_SAID.with(report);
          rewrites.add("the whole job", argument, 0, because, "");
          verdict(argument, "", false, because, "");
          return Sentence.DID_NOTHING.with(argument, because);
        });
  }

  /** Notes a library that the program uses; may be called repeatedly for the same one. */
  public void saw(LibraryEvent library) {
    libraries.putIfAbsent(String.valueOf(library.name), library);
  }

  /**
   * Notes whether a policy, in force or not, can work on data of the job.
   *
   * @param policy its argument, such as {@code prepared=share}
   * @param source class of the data, empty for the whole job
   * @param reason why the policy cannot work, or on which part of the data it can; empty if on all
   * @param remedy argument that would allow the policy, empty if there is none
   */
  public void verdict(String policy, String source, boolean allowed, String reason, String remedy) {
    if (verdicts.size() < MAX_VERDICTS) {
      verdicts.put(
          policy + "\n" + source, VerdictEvent.of(policy, source, allowed, reason, remedy));
    }
  }

  List<VerdictEvent> verdicts() {
    List<VerdictEvent> all = new ArrayList<>(verdicts.values());
    if (spans.decodesItself()) {
      all.add(VerdictEvent.programDecodes());
    }
    return all;
  }

  List<LibraryEvent> libraries() {
    return List.copyOf(libraries.values());
  }

  /** Records and returns the reason for each requested policy that had no effect. */
  List<String> didNothing() {
    return lines(unused);
  }

  // ---- reading figures

  /** Returns totals, latencies and stores, which are exported to other systems. */
  List<Event> exported() {
    return together(Stream.of(List.of(ended()), latencies(), stores()));
  }

  /** Returns the job's totals so far, as events; readers use the last ones in a recording. */
  List<Event> statistics() {
    return together(
        Stream.of(
            configuration(),
            libraries(),
            verdicts(),
            List.of(totals()),
            latencies(),
            policyStatistics()));
  }

  /** Returns the statistics of stores, staging, other hosts and devices so far. */
  List<Event> policyStatistics() {
    return together(Stream.of(stores(), stagings(), peerViews(), gpus()));
  }

  List<Event> configuration() {
    List<Event> events = new ArrayList<>(List.of(environment()));
    for (Setting setting : settings) {
      ConfigurationEvent event = new ConfigurationEvent();
      event.key = setting.key();
      event.value = setting.value();
      event.origin = setting.origin();
      events.add(event);
    }
    return events;
  }

  private static List<Event> together(Stream<List<? extends Event>> events) {
    return events.<Event>flatMap(List::stream).toList();
  }

  boolean isProfiled() {
    return profile != null;
  }

  /** Describes the results of a profile; empty if there is none. */
  List<String> profiled() {
    Profile made = profile;
    return made == null ? List.of() : made.summary();
  }

  /** Writes the buffered events to the running recording, and later ones immediately. */
  void open(EventSink to) {
    log.events.open(to);
    rewrites.events.open(to);
  }

  /** Figures outside the spans' totals, as they were when the job ended. */
  private record AtEnd(
      List<LatencyStatisticsEvent> latencies,
      List<StoreStatisticsEvent> stores,
      List<PeerStatisticsEvent> peers,
      List<StagingStatisticsEvent> stagings,
      List<GpuStatisticsEvent> gpus,
      long faults) {}

  /**
   * Writes open epochs as they stand and fixes every total, whatever the program's threads do
   * afterwards. Called when the job ends; only the first call has an effect.
   */
  void freeze() {
    synchronized (spans) {
      if (atEnd == null) {
        waits.checkAtEnd();
        spans.finish();
        atEnd = new AtEnd(latencies(), stores(), peerViews(), stagings(), gpus(), faults());
      }
    }
  }

  /** Returns the job's distributions so far, one for each kind that has durations. */
  List<LatencyStatisticsEvent> latencies() {
    return total(latencies::job, AtEnd::latencies);
  }

  @Nullable LatencyStatisticsEvent latency(Durations.Kind kind) {
    return latencies().stream()
        .filter(one -> kind.label().equals(one.kind))
        .findFirst()
        .orElse(null);
  }

  private <T> T total(Supplier<T> now, Function<AtEnd, T> atLast) {
    AtEnd end = atEnd;
    return end == null ? now.get() : atLast.apply(end);
  }

  public List<PeerStatisticsEvent> peerViews() {
    return total(peers::views, AtEnd::peers);
  }

  List<StoreStatisticsEvent> stores() {
    return total(() -> stores.stream().map(Supplier::get).toList(), AtEnd::stores);
  }

  /** Returns the number of hits in all stores. */
  public long hits() {
    return stores().stream().mapToLong(store -> store.hits).sum();
  }

  long faults() {
    return total(log::faults, AtEnd::faults);
  }

  List<StagingStatisticsEvent> stagings() {
    return total(
        () -> stagings.stream().flatMap(one -> one.get().stream()).toList(), AtEnd::stagings);
  }

  List<GpuStatisticsEvent> gpus() {
    GpuSampler made = sampler;
    return total(() -> made == null ? List.of() : made.statistics(), AtEnd::gpus);
  }

  List<String> policies() {
    return lines(policies);
  }

  private static List<String> lines(List<Supplier<String>> all) {
    return all.stream().map(Supplier::get).flatMap(String::lines).toList();
  }

  EnvironmentEvent environment() {
    EnvironmentEvent event = new EnvironmentEvent();
    event.agent = agent;
    event.recording = recording;
    event.libraries = rewrites.libraries();
    Machine.describe(event);
    return event;
  }

  String frameworks() {
    return String.join(", ", libraries.keySet());
  }

  /**
   * Returns the facts for the advice. A {@code record=} that cannot be written is left out, because
   * the advice repeats the arguments that the user gave.
   */
  Evidence evidence() {
    Map<String, String> configuration = new HashMap<>();
    Map<String, String> given = new HashMap<>();
    for (Setting setting : settings) {
      configuration.put(setting.key(), setting.value());
      if (Arguments.isGiven(setting.origin())
          && !(setting.key().equals("record") && recordingRefused)) {
        given.put(setting.key(), setting.value());
      }
    }
    return new Evidence(
        totals(),
        spans.totals().ended(),
        stores(),
        configuration,
        given,
        libraries(),
        verdicts(),
        environment().usableCores(),
        1 + peerViews().size());
  }

  /** Reports a wait that lasts too long; called about once a second, by any thread. */
  void checkWaits() {
    waits.check();
  }

  /**
   * Returns the wait that has lasted too long and has not ended; an empty list if there is none.
   */
  List<OpenWaitEvent> openWaits() {
    OpenWaitEvent open = waits.open();
    return open == null ? List.of() : List.of(open);
  }

  /** Returns the totals, including the longest unfinished wait. */
  JobStatisticsEvent totals() {
    return totals(true);
  }

  /**
   * Returns the totals without unfinished waits, so the times never decrease, as counters require.
   */
  JobStatisticsEvent ended() {
    return totals(false);
  }

  private JobStatisticsEvent totals(boolean withOpenWait) {
    JobStatisticsEvent event = spans.soFar(withOpenWait);
    event.keptItems =
        stores().stream()
            .filter(store -> !store.keeps(StoreStatisticsEvent.RAW))
            .mapToLong(store -> store.hits)
            .sum();
    event.mainClass = mainClass;
    event.frameworks = frameworks();
    event.faults = faults();
    event.running = atEnd == null;
    if (isProfiled()) { // The profile ends the job after its phases.
      event.plannedEpochs = 0;
      event.timeLeft = 0;
    }
    Machine.describe(event);
    return event;
  }
}
