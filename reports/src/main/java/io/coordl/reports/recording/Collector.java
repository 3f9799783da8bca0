package io.coordl.reports.recording;

import io.coordl.advice.Arguments;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes the events of a stream, in any order, and keeps the latest of each total. Its memory grows
 * with the number of epochs only. Confined to the thread that runs the stream.
 */
final class Collector {
  private static final int FAULTS_KEPT = 5;

  /** A total and when it was written. */
  private record Dated<T>(Instant written, T value) {}

  private final Set<Jvm> jvms = new HashSet<>();
  private @Nullable Dated<JobStatistics> job;
  private final Map<String, Dated<StoreStatistics>> stores = new TreeMap<>();
  private final Map<String, Dated<PeerStatistics>> peers = new TreeMap<>();
  private final Map<String, Dated<StagingStatistics>> stagings = new TreeMap<>();
  private final Map<String, Dated<LatencyStatistics>> latencies = new TreeMap<>();
  private final Map<String, Dated<Configuration>> configuration = new TreeMap<>();
  // By their figures and not by time: of a chunk that is there twice the JDK may say two times.
  private final Map<Epoch, Instant> epochs = new HashMap<>();
  private final Map<Phase, Instant> phases = new HashMap<>();
  private @Nullable Dated<Host> host;
  private final Map<Fault, Instant> firstFaults = new HashMap<>();
  private long faults;
  private boolean severalJobs;

  /** What takes the events of each type. */
  Map<String, Consumer<JobEvent>> takers() {
    Map<String, Consumer<JobEvent>> takers = new HashMap<>();
    on(takers, Jvm.class, (event, jvm) -> jvms.add(jvm));
    on(takers, JobStatistics.class, this::add);
    on(takers, StoreStatistics.class, this::add);
    on(takers, PeerStatistics.class, this::add);
    on(takers, StagingStatistics.class, this::add);
    on(takers, LatencyStatistics.class, this::add);
    on(takers, Configuration.class, this::add);
    on(takers, Epoch.class, (event, pass) -> epochs.put(pass, event.end()));
    on(takers, Phase.class, (event, phase) -> phases.put(phase, event.end()));
    on(takers, Host.class, this::add);
    on(takers, Fault.class, this::add);
    return takers;
  }

  private static <R extends Record> void on(
      Map<String, Consumer<JobEvent>> takers, Class<R> type, BiConsumer<JobEvent, R> action) {
    EventReader<R> reader = new EventReader<>(type);
    takers.put(reader.event(), event -> action.accept(event, reader.read(event)));
  }

  private void add(JobEvent event, JobStatistics value) {
    Dated<JobStatistics> known = job;
    Dated<JobStatistics> next = new Dated<>(event.start(), value);
    if (known == null) {
      job = next;
      return;
    }
    boolean inOrder = !next.written.isBefore(known.written);
    JobStatistics earlier = inOrder ? known.value : next.value;
    JobStatistics later = inOrder ? next.value : known.value;
    // Totals of one job only grow, and its program stays the same.
    severalJobs |=
        later.batches() < earlier.batches()
            || later.wall() < earlier.wall()
            || differs(later.mainClass(), earlier.mainClass());
    job = inOrder ? next : known;
  }

  private static boolean differs(@Nullable String one, @Nullable String other) {
    return one != null && other != null && !one.equals(other);
  }

  private void add(JobEvent event, StoreStatistics value) {
    String key = value.store() + "\n" + value.scope() + "\n" + value.group();
    stores.merge(key, new Dated<>(event.start(), value), Collector::later);
  }

  private void add(JobEvent event, PeerStatistics value) {
    peers.merge(String.valueOf(value.peer()), new Dated<>(event.start(), value), Collector::later);
  }

  private void add(JobEvent event, StagingStatistics value) {
    String key = value.group() + "\n" + value.pipeline();
    stagings.merge(key, new Dated<>(event.start(), value), Collector::later);
  }

  private void add(JobEvent event, LatencyStatistics value) {
    if (value.epoch() == 0) {
      latencies.merge(
          String.valueOf(value.kind()), new Dated<>(event.start(), value), Collector::later);
    }
  }

  private void add(JobEvent event, Configuration value) {
    configuration.merge(
        String.valueOf(value.key()), new Dated<>(event.start(), value), Collector::later);
  }

  private void add(JobEvent event, Host value) {
    Dated<Host> next = new Dated<>(event.start(), value);
    host = host == null ? next : later(host, next);
  }

  private void add(JobEvent event, Fault fault) {
    faults++;
    firstFaults.merge(fault, event.start(), (one, other) -> one.isBefore(other) ? one : other);
    if (firstFaults.size() > FAULTS_KEPT) {
      firstFaults.remove(byTime().get(FAULTS_KEPT));
    }
  }

  private List<Fault> byTime() {
    return firstFaults.entrySet().stream()
        .sorted(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey)
        .toList();
  }

  private static <T> Dated<T> later(Dated<T> known, Dated<T> next) {
    return next.written.isBefore(known.written) ? known : next;
  }

  /** All that is known; the parameters are as in {@link JobRecording}. */
  JobRecording recording(Path file, long bytes, long events, boolean endsEarly) {
    return new JobRecording(
        file,
        bytes,
        events,
        endsEarly,
        jvms.stream().findFirst().orElse(null),
        job(),
        epochs(),
        stores(),
        peers(),
        stagings(),
        latencies(),
        configuration(),
        given(),
        phases(),
        host(),
        faults,
        byTime());
  }

  Set<Jvm> jvms() {
    return jvms;
  }

  /** True if totals went backwards: more than one run wrote them. */
  boolean severalJobs() {
    return severalJobs;
  }

  @Nullable JobStatistics job() {
    return job == null ? null : job.value;
  }

  List<Epoch> epochs() {
    return epochs.entrySet().stream()
        .sorted(
            Comparator.comparingLong((Map.Entry<Epoch, Instant> pass) -> pass.getKey().epoch())
                .thenComparing(Map.Entry.comparingByValue()))
        .map(Map.Entry::getKey)
        .toList();
  }

  List<StoreStatistics> stores() {
    return stores.values().stream().map(Dated::value).toList();
  }

  List<PeerStatistics> peers() {
    return peers.values().stream().map(Dated::value).toList();
  }

  List<StagingStatistics> stagings() {
    return stagings.values().stream().map(Dated::value).toList();
  }

  List<LatencyStatistics> latencies() {
    return latencies.values().stream().map(Dated::value).toList();
  }

  Map<String, String> configuration() {
    Map<String, String> values = new TreeMap<>();
    configuration.forEach((key, dated) -> values.put(key, String.valueOf(dated.value.value())));
    return values;
  }

  /** Neither defaults nor what another argument brought along. */
  private Map<String, String> given() {
    Map<String, String> values = new TreeMap<>();
    configuration.forEach(
        (key, dated) -> {
          if (Arguments.isGiven(dated.value.origin())) {
            values.put(key, String.valueOf(dated.value.value()));
          }
        });
    return values;
  }

  /** In the order they were measured. */
  List<Phase> phases() {
    return phases.entrySet().stream()
        .sorted(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey)
        .toList();
  }

  @Nullable Host host() {
    return host == null ? null : host.value;
  }

  long faults() {
    return faults;
  }

  List<Fault> firstFaults() {
    return byTime();
  }
}
