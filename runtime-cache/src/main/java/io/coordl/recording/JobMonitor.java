package io.coordl.recording;

import io.coordl.advice.Arguments;
import io.coordl.advice.Evidence;
import io.coordl.attribution.Durations;
import io.coordl.attribution.SpanRecorder;
import io.coordl.event.ConfigurationEvent;
import io.coordl.event.EnvironmentEvent;
import io.coordl.event.EventSink;
import io.coordl.event.GpuStatisticsEvent;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.LatencyStatisticsEvent;
import io.coordl.event.PeerStatisticsEvent;
import io.coordl.event.StagingStatisticsEvent;
import io.coordl.event.StoreStatisticsEvent;
import io.coordl.gpu.Binding;
import io.coordl.gpu.GpuSampler;
import io.coordl.live.StatusFile;
import io.coordl.metrics.MetricsExport;
import io.coordl.partition.PeerSink;
import io.coordl.profile.Profile;
import io.coordl.shared.Machine;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * Everything known about this job: spans, distributions, stores, settings, faults; and its way into
 * the recording and the summary. One per JVM, made by the agent. Safe for concurrent use.
 */
public final class JobMonitor {
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
  private final List<Closeable> closing = new CopyOnWriteArrayList<>();
  private final List<Runnable> endings = new CopyOnWriteArrayList<>();
  private final List<MetricsExport> exports = new CopyOnWriteArrayList<>();
  private final Set<String> frameworks = new ConcurrentSkipListSet<>();
  private volatile @Nullable GpuSampler sampler;
  private volatile @Nullable Profile profile;
  private volatile @Nullable AtEnd atEnd;
  private volatile String agent = "";
  private volatile boolean shown;
  private volatile boolean hasStatus;
  private final FlightLog flight;
  private final List<Setting> settings;
  private final String mainClass;
  private final GcClock gc = new GcClock();

  /**
   * A monitor that records nothing yet.
   *
   * @param settings the agent's arguments as understood
   * @param mainClass the program, for the recording
   * @param log what the user is told
   * @param rewrites what was rewritten, before this monitor too
   */
  public JobMonitor(List<Setting> settings, String mainClass, AgentLog log, RewriteLog rewrites) {
    this.settings = List.copyOf(settings);
    this.mainClass = mainClass;
    this.log = log;
    this.rewrites = rewrites;
    this.latencies = new Latencies(log.events);
    this.spans = new SpanRecorder(log.events, latencies, gc);
    this.spans.totals().cpu(Machine::cpuTime);
    this.peers = new PeerLog(spans, latencies);
    this.flight = new FlightLog(this);
  }

  public SpanRecorder spans() {
    return spans;
  }

  public AgentLog log() {
    return log;
  }

  /** Hears what is asked of other hosts; any thread may tell it. */
  public PeerSink peers() {
    return peers;
  }

  /** Adds a store to events and summary, to be closed when the job has ended. */
  public void addStore(Supplier<StoreStatisticsEvent> store, Closeable toClose) {
    stores.add(store);
    closing.add(toClose);
  }

  /**
   * Adds a policy that uses the stores.
   *
   * @param said what it did, for the summary; empty if nothing
   * @param toClose closed when the job has ended, before the stores
   */
  public void addPolicy(Supplier<String> said, Closeable toClose) {
    policies.add(said);
    closing.add(0, toClose);
  }

  /** Adds what is to be done first when the JVM ends, while the program's threads go on. */
  public void addEnding(Runnable ending) {
    endings.add(ending);
  }

  /**
   * Adds what the user asked for, a policy or a data set: if it did nothing, the summary and the
   * recording say why.
   *
   * @param asked as it was written: {@code cache=minio}
   * @param name by which sentences for the user begin that tell more than {@code why}
   * @param why it did nothing, asked when the job ends; empty if it did something
   */
  public void addAsked(String asked, String name, Supplier<String> why) {
    unused.add(
        () -> {
          String reason;
          try {
            reason = why.get();
          } catch (RuntimeException e) {
            return ""; // The rest of the summary is worth more.
          }
          if (reason.isEmpty()) {
            return "";
          }
          String said = log.saidOf(name);
          String because = said.isEmpty() ? reason : "it " + said;
          rewrites.add("the whole job", asked, 0, because, "");
          return asked + " did nothing: " + because;
        });
  }

  /** Adds the job's part in coordinated prep, to be left when the job has ended. */
  public void addStaging(Supplier<List<StagingStatisticsEvent>> figures, Closeable group) {
    stagings.add(figures);
    closing.add(0, group);
  }

  /**
   * The job is being profiled.
   *
   * @param made hears when the job ends, and is told of then
   * @param toClose closed when the job has ended
   */
  public void profile(Profile made, Closeable toClose) {
    profile = made;
    closing.add(toClose);
  }

  /** Samples the devices from now on, until the job has ended; says it if it cannot and must. */
  public GpuSampler sample(Binding binding, boolean asked) {
    GpuSampler made = new GpuSampler(binding, log.events, spans.totals()::snapshot, log, asked);
    sampler = made;
    closing.add(0, made);
    made.start();
    return made;
  }

  /** What a profile measured, in words; empty if there is none. */
  List<String> profiled() {
    Profile made = profile;
    return made == null ? List.of() : made.summary();
  }

  /** Whose recording this is, by the version of the agent. */
  public void madeBy(String version) {
    agent = version;
    gc.hearCauses();
  }

  /**
   * From now on the user sees how the job goes: a line when it is known where the recording goes,
   * and for epochs.
   */
  public void show() {
    shown = true;
    spans
        .totals()
        .onEpochEnd(
            new EpochLines(
                lines -> log.print(UserText.marked(lines), Duration.ZERO),
                System::nanoTime,
                this::totals,
                () -> profile != null));
  }

  /** Says that the job is watched, and how to look at it. */
  void began() {
    if (!shown) {
      return;
    }
    String recording = recording();
    String line =
        agent
            + " watches this "
            + (frameworks.isEmpty() ? "job" : frameworks() + " job")
            + (recording == null ? "" : "; recording: " + recording)
            + (hasStatus ? "; while it runs: coordl top " + ProcessHandle.current().pid() : "");
    log.print(UserText.marked(List.of(line)), Duration.ZERO);
  }

  /** From now on {@code coordl top} shows the job, until it has ended. */
  public void showStatus() {
    hasStatus = true;
    Status status = new Status(this, StatusFile::directory);
    closing.add(status);
    status.start();
  }

  /** From now on the totals can be read by JMX. */
  public void showBeans() {
    new Beans(this).start();
  }

  /**
   * From now on another system, as {@link MetricsExport} understands it, gets the totals, until the
   * job has ended.
   */
  public void export(String target) {
    MetricsExport export = new MetricsExport(target, this::forMetrics, log);
    if (exports.isEmpty()) {
      closing.add(0, () -> MetricsExport.end(exports));
    }
    exports.add(export);
    export.start();
  }

  private List<Event> forMetrics() {
    return together(Stream.of(List.of(totals()), latencies(), stores()));
  }

  /** The job's totals so far, as events; the last ones of a recording count. */
  List<Event> statistics() {
    return together(Stream.of(configuration(), List.of(totals()), latencies(), policyStatistics()));
  }

  /** What stores, staging, other hosts and devices did so far. */
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

  public void sawFramework(String name) {
    frameworks.add(name);
  }

  /**
   * Starts our recording beside the job, or joins one that runs; a failure costs the recording, not
   * the job.
   *
   * @param target file, {@code %p} is the process id
   * @param own start our own even if the user's runs
   */
  public void startRecording(String target, boolean own) {
    flight.start(target, own);
  }

  /** Totals and summary only: nothing is written. */
  public void startWithoutRecording() {
    log.events.close();
    rewrites.events.close();
    began();
  }

  /** The recording runs: what has waited for it is written, and from now on all at once. */
  void open(EventSink to) {
    log.events.open(to);
    rewrites.events.open(to);
  }

  /** What the spans do not add up, as it was when they ended. */
  private record AtEnd(
      List<LatencyStatisticsEvent> latencies,
      List<StoreStatisticsEvent> stores,
      List<PeerStatisticsEvent> peers,
      List<StagingStatisticsEvent> stagings,
      List<GpuStatisticsEvent> gpus,
      long faults) {}

  /**
   * The job ends: epochs that are still open are written as they stand, and every total is read for
   * the last time, whatever the program's threads go on to do. Once.
   */
  void freeze() {
    synchronized (spans) {
      if (atEnd == null) {
        spans.finish();
        atEnd = new AtEnd(latencies(), stores(), peerViews(), stagings(), gpus(), faults());
      }
    }
  }

  /** Finishes the recording, closes the stores and returns the summary, at most 20 lines. */
  public List<String> finish() {
    for (Runnable ending : endings) {
      try {
        ending.run();
      } catch (RuntimeException e) {
        log.say("the end of the job was not prepared (" + e + ")");
      }
    }
    List<String> didNothing = said(unused); // While the recording runs.
    Profile made = profile;
    if (made != null) {
      made.close();
    }
    try {
      freeze();
      flight.finish();
      return new ExitSummary(this, recording(), didNothing).lines();
    } finally {
      for (Closeable store : closing) {
        try {
          store.close();
        } catch (IOException | RuntimeException e) {
          log.say("a store cannot be closed (" + e + ")");
        }
      }
    }
  }

  /** Where the recording goes and what became of it; null if there is none. */
  @Nullable String recording() {
    return flight.where();
  }

  /** The job's distributions so far, one of each kind of which there was any. */
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
    return said(policies);
  }

  private static List<String> said(List<Supplier<String>> all) {
    return all.stream().map(Supplier::get).filter(text -> !text.isEmpty()).toList();
  }

  EnvironmentEvent environment() {
    EnvironmentEvent event = new EnvironmentEvent();
    event.agent = agent;
    event.recording = flight.ownFile();
    event.libraries = rewrites.libraries();
    Machine.describe(event);
    return event;
  }

  String frameworks() {
    return String.join(", ", frameworks);
  }

  /** What the advice looks at. A file that cannot be written is not advised again. */
  Evidence evidence() {
    Map<String, String> configuration = new HashMap<>();
    Map<String, String> given = new HashMap<>();
    for (Setting setting : settings) {
      configuration.put(setting.key(), setting.value());
      if (Arguments.isGiven(setting.origin())
          && !(setting.key().equals("record") && flight.refused())) {
        given.put(setting.key(), setting.value());
      }
    }
    return new Evidence(
        totals(),
        spans.totals().ended(),
        stores(),
        configuration,
        given,
        frameworks(),
        1 + peerViews().size());
  }

  JobStatisticsEvent totals() {
    JobStatisticsEvent event = spans.totals().snapshot();
    event.mainClass = mainClass;
    event.frameworks = frameworks();
    event.faults = faults();
    event.running = atEnd == null;
    if (profile != null) { // The profile ends the job after its phases.
      event.plannedEpochs = 0;
      event.timeLeft = 0;
    }
    Machine.describe(event);
    return event;
  }
}
