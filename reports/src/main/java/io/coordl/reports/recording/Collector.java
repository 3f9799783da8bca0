package io.coordl.reports.recording;

import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import jdk.jfr.consumer.EventStream;
import jdk.jfr.consumer.RecordedEvent;
import org.jspecify.annotations.Nullable;

/**
 * Takes the events of a stream, in any order, and keeps the latest of each total. Its memory grows
 * with the number of epochs only. Confined to the thread that runs the stream.
 */
final class Collector {
  private static final int FAULTS_KEPT = 5;

  /** A total and when it was written. */
  private record Dated<T>(Instant written, T value) {}

  private record PassKey(Instant ended, Epoch epoch) {}

  private final Set<Jvm> jvms = new HashSet<>();
  private @Nullable Dated<JobStatistics> job;
  private final Map<String, Dated<StoreStatistics>> stores = new TreeMap<>();
  private final Map<String, Dated<StagingStatistics>> stagings = new TreeMap<>();
  private final Map<String, Dated<LatencyStatistics>> latencies = new TreeMap<>();
  private final Map<String, Dated<Configuration>> configuration = new TreeMap<>();
  private final Set<PassKey> epochs = new HashSet<>();
  private final Set<Dated<Phase>> phases = new HashSet<>();
  private @Nullable Dated<Host> host;
  private final Map<Fault, Instant> firstFaults = new HashMap<>();
  private long faults;
  private boolean severalJobs;

  private final Set<String> subscribed = new TreeSet<>();
  private final Progress progress;
  private final long expected;
  private long delivered;

  /**
   * @param expected how many events of the subscribed types are there, for the progress
   */
  Collector(Progress progress, long expected) {
    this.progress = progress;
    this.expected = expected;
  }

  /** The events that a collector asks a stream for. */
  static Set<String> wanted() {
    Collector collector = new Collector(Progress.NONE, 0);
    collector.subscribe((name, action) -> {});
    return collector.subscribed;
  }

  void subscribe(EventStream stream) {
    subscribe(stream::onEvent);
  }

  private void subscribe(BiConsumer<String, Consumer<RecordedEvent>> stream) {
    on(stream, Jvm.class, (event, jvm) -> jvms.add(jvm));
    on(stream, JobStatistics.class, this::add);
    on(stream, StoreStatistics.class, this::add);
    on(stream, StagingStatistics.class, this::add);
    on(stream, LatencyStatistics.class, this::add);
    on(stream, Configuration.class, this::add);
    on(stream, Epoch.class, (event, pass) -> epochs.add(new PassKey(event.getEndTime(), pass)));
    on(stream, Phase.class, (event, phase) -> phases.add(new Dated<>(event.getEndTime(), phase)));
    on(stream, Host.class, this::add);
    on(stream, Fault.class, this::add);
  }

  private <R extends Record> void on(
      BiConsumer<String, Consumer<RecordedEvent>> stream,
      Class<R> type,
      BiConsumer<RecordedEvent, R> action) {
    EventReader<R> reader = new EventReader<>(type);
    subscribed.add(reader.event());
    stream.accept(
        reader.event(),
        event -> {
          delivered++;
          progress.at(expected == 0 ? 1 : (double) delivered / expected);
          action.accept(event, reader.read(event));
        });
  }

  private void add(RecordedEvent event, JobStatistics value) {
    Dated<JobStatistics> known = job;
    Dated<JobStatistics> next = new Dated<>(event.getStartTime(), value);
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

  private void add(RecordedEvent event, StoreStatistics value) {
    String key = value.store() + "\n" + value.scope() + "\n" + value.group();
    stores.merge(key, new Dated<>(event.getStartTime(), value), Collector::later);
  }

  private void add(RecordedEvent event, StagingStatistics value) {
    String key = value.group() + "\n" + value.pipeline();
    stagings.merge(key, new Dated<>(event.getStartTime(), value), Collector::later);
  }

  private void add(RecordedEvent event, LatencyStatistics value) {
    if (value.epoch() == 0) {
      latencies.merge(
          String.valueOf(value.kind()), new Dated<>(event.getStartTime(), value), Collector::later);
    }
  }

  private void add(RecordedEvent event, Configuration value) {
    configuration.merge(
        String.valueOf(value.key()), new Dated<>(event.getStartTime(), value), Collector::later);
  }

  private void add(RecordedEvent event, Host value) {
    Dated<Host> next = new Dated<>(event.getStartTime(), value);
    host = host == null ? next : later(host, next);
  }

  private void add(RecordedEvent event, Fault fault) {
    faults++;
    firstFaults.merge(
        fault, event.getStartTime(), (one, other) -> one.isBefore(other) ? one : other);
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

  long delivered() {
    return delivered;
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
    return epochs.stream()
        .sorted(
            Comparator.comparingLong((PassKey key) -> key.epoch.epoch())
                .thenComparing(PassKey::ended))
        .map(PassKey::epoch)
        .toList();
  }

  List<StoreStatistics> stores() {
    return stores.values().stream().map(Dated::value).toList();
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

  /** In the order they were measured. */
  List<Phase> phases() {
    return phases.stream().sorted(Comparator.comparing(Dated::written)).map(Dated::value).toList();
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
