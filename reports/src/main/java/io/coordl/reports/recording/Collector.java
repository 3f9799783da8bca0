package io.coordl.reports.recording;

import io.coordl.telemetry.advice.Arguments;
import io.coordl.telemetry.event.ConfigurationEvent;
import io.coordl.telemetry.event.EnvironmentEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.FaultEvent;
import io.coordl.telemetry.event.GpuStatisticsEvent;
import io.coordl.telemetry.event.HostEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.LayerEvent;
import io.coordl.telemetry.event.LibraryEvent;
import io.coordl.telemetry.event.OpenWaitEvent;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import io.coordl.telemetry.event.PhaseEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.VerdictEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * Collects the events of a recording, in any order, and keeps the latest of each total. Its memory
 * grows with the number of epochs and, up to a bound, of steps, but not of items. Confined to the
 * thread that reads the recording.
 */
public final class Collector {
  private static final int FAULTS_KEPT = 5;

  /** Maximum difference between the clocks of two files of one job. */
  private static final long MAX_CLOCK_DIFFERENCE_NANOS = 50_000_000;

  private record Dated<E>(Instant written, E value) {
    Dated<E> earlier(Dated<E> other) {
      return other.written.isBefore(written) ? other : this;
    }

    Dated<E> later(Dated<E> other) {
      return other.written.isBefore(written) ? this : other;
    }
  }

  final Map<String, Jvm> jvms = new TreeMap<>();
  private @Nullable Dated<JobStatisticsEvent> job;
  private @Nullable Dated<JobStatisticsEvent> jobBefore;
  private final Map<String, Dated<StoreStatisticsEvent>> stores = new TreeMap<>();
  private final Map<String, Dated<PeerStatisticsEvent>> peers = new TreeMap<>();
  private final Map<String, Dated<StagingStatisticsEvent>> stagings = new TreeMap<>();
  private final Map<String, Dated<GpuStatisticsEvent>> gpus = new TreeMap<>();
  private final Map<String, Dated<LatencyStatisticsEvent>> latencies = new TreeMap<>();
  private final Map<String, Dated<LibraryEvent>> libraries = new TreeMap<>();
  private final Map<String, Dated<VerdictEvent>> verdicts = new TreeMap<>();
  private final Map<String, Dated<LayerEvent>> layers = new TreeMap<>();
  private final Map<String, Dated<ConfigurationEvent>> configuration = new TreeMap<>();
  private final Map<String, Dated<HostEvent>> hosts = new TreeMap<>();
  private final Map<String, Dated<OpenWaitEvent>> openWaits = new TreeMap<>();
  private final Map<String, Dated<EnvironmentEvent>> environments = new TreeMap<>();
  // Keyed by figures, not by time: for a duplicated chunk the JDK may report two different times.
  private final Map<List<@Nullable Object>, Dated<EpochEvent>> epochs = new HashMap<>();
  private final Map<List<@Nullable Object>, Dated<PhaseEvent>> phases = new HashMap<>();
  private final Map<List<@Nullable Object>, Dated<FaultEvent>> firstFaults = new HashMap<>();
  private long faults;

  /** True if totals went backwards or named two programs: more than one run wrote them. */
  boolean severalJobs;

  private long taken;

  private final StepSeries steps = new StepSeries();

  /** Consumers of the events of each type. */
  final Map<String, Consumer<JobEvent>> takers = new HashMap<>();

  public Collector() {
    takers.put(
        Jvm.EVENT,
        event -> {
          Jvm jvm = Jvm.of(event);
          jvms.put(jvm.pid() + " " + jvm.jvmStartTime(), jvm);
        });
    on(JobStatisticsEvent.class, this::add);
    on(FaultEvent.class, this::addFault);
    latest(
        StoreStatisticsEvent.class,
        stores,
        event -> event.store + "\n" + event.scope + "\n" + event.group);
    latest(PeerStatisticsEvent.class, peers, event -> String.valueOf(event.peer));
    latest(StagingStatisticsEvent.class, stagings, event -> event.group + "\n" + event.pipeline);
    latest(GpuStatisticsEvent.class, gpus, event -> String.format("%04d", event.device));
    latest(
        LatencyStatisticsEvent.class,
        latencies,
        event -> event.epoch == 0 ? String.valueOf(event.kind) : null);
    latest(LibraryEvent.class, libraries, event -> String.valueOf(event.name));
    latest(VerdictEvent.class, verdicts, event -> event.policy + "\n" + event.source);
    latest(LayerEvent.class, layers, event -> String.format("%04d/%08d", event.model, event.place));
    latest(ConfigurationEvent.class, configuration, event -> String.valueOf(event.key));
    latest(HostEvent.class, hosts, event -> "");
    latest(OpenWaitEvent.class, openWaits, event -> "");
    latest(EnvironmentEvent.class, environments, event -> "");
    latest(EpochEvent.class, epochs, EventReader::values);
    latest(PhaseEvent.class, phases, EventReader::values);
  }

  /** From now on, also collects the events of each step. */
  void takeSteps() {
    takers.putAll(steps.takers());
  }

  private <E extends Event> void on(Class<E> type, Consumer<Dated<E>> action) {
    EventReader<E> reader = new EventReader<>(type);
    takers.put(reader.event, event -> action.accept(new Dated<>(event.end(), reader.read(event))));
  }

  /** Keeps the latest event of each key; ignores events with a null key. */
  private <K, E extends Event> void latest(
      Class<E> type, Map<K, Dated<E>> kept, Function<E, @Nullable K> key) {
    on(
        type,
        next -> {
          K eventKey = key.apply(next.value);
          if (eventKey != null) {
            kept.merge(eventKey, next, Dated::later);
          }
        });
  }

  private void add(Dated<JobStatisticsEvent> next) {
    Dated<JobStatisticsEvent> known = job;
    if (known == null) {
      job = next;
      return;
    }
    boolean inOrder = !next.written.isBefore(known.written);
    Dated<JobStatisticsEvent> older = inOrder ? known : next;
    Dated<JobStatisticsEvent> newer = inOrder ? next : known;
    JobStatisticsEvent earlier = older.value;
    JobStatisticsEvent later = newer.value;
    // Totals of one job only grow, within clock differences, and its program never changes.
    long back = earlier.wall - later.wall;
    severalJobs |=
        back > MAX_CLOCK_DIFFERENCE_NANOS
            || (back <= 0 && later.batches < earlier.batches)
            || differs(later.mainClass, earlier.mainClass);
    jobBefore = jobBefore == null ? older : jobBefore.later(older);
    job = newer;
  }

  private static boolean differs(@Nullable String one, @Nullable String other) {
    return one != null && other != null && !one.equals(other);
  }

  private void addFault(Dated<FaultEvent> fault) {
    faults++;
    firstFaults.merge(EventReader.values(fault.value), fault, Dated::earlier);
    if (firstFaults.size() > FAULTS_KEPT) {
      firstFaults.values().remove(byTime(firstFaults).get(FAULTS_KEPT));
    }
  }

  private static <E> List<Dated<E>> byTime(Map<?, Dated<E>> of) {
    return of.values().stream().sorted(Comparator.comparing(Dated::written)).toList();
  }

  public Set<String> types() {
    return Set.copyOf(takers.keySet());
  }

  /**
   * Takes an event that another tool has read.
   *
   * @param type one of {@link #types}
   * @throws RecordingException if another version of the agent wrote it
   */
  public void take(String type, JobEvent event) throws RecordingException {
    try {
      Objects.requireNonNull(takers.get(type), type).accept(event);
      taken++;
    } catch (EventReader.MissingFieldException missing) {
      throw new RecordingException(
          ExitStatus.OTHER_VERSION,
          String.format(
              "The recording was written by another version of the agent: %s.",
              missing.getMessage()));
    }
  }

  /**
   * Returns the recording that the taken events describe; throws if they come from several runs.
   */
  public JobRecording recording(Path name) throws RecordingException {
    if (jvms.size() > 1 || severalJobs) {
      throw new RecordingException(
          ExitStatus.SEVERAL_RUNS,
          "The events come from more than one run: open each recording separately.");
    }
    return recording(name, 0, taken, false);
  }

  /** Returns the collected recording; the parameters are those of {@link JobRecording}. */
  JobRecording recording(Path file, long bytes, long events, boolean endsEarly) {
    return new JobRecording(
        file,
        bytes,
        events,
        endsEarly || (job != null && job.value.running),
        jvms.values().stream().findFirst().orElse(null),
        job == null ? null : job.value,
        recent(),
        values(byTime(epochs)).stream()
            .sorted(Comparator.comparingLong(epoch -> epoch.epoch))
            .toList(),
        values(libraries.values()),
        values(verdicts.values()),
        values(stores.values()),
        values(peers.values()),
        values(stagings.values()),
        values(gpus.values()),
        values(latencies.values()),
        values(layers.values()),
        configuration(value -> true),
        configuration(value -> Arguments.isGiven(value.origin)),
        values(byTime(phases)),
        values(hosts.values()).stream().findFirst().orElse(null),
        openWait(),
        values(environments.values()).stream().findFirst().orElse(null),
        faults,
        values(byTime(firstFaults)),
        steps.steps());
  }

  /** Returns the wait that was reported last; null if it has ended. */
  private @Nullable OpenWaitEvent openWait() {
    if (job == null || !job.value.waitsTooLong()) {
      return null;
    }
    OpenWaitEvent last = values(openWaits.values()).stream().findFirst().orElse(null);
    if (last != null) {
      last.waited = Math.max(last.waited, job.value.openWait);
    }
    return last;
  }

  private JobRecording.@Nullable Recent recent() {
    if (job == null || jobBefore == null) {
      return null;
    }
    JobStatisticsEvent figures = new JobStatisticsEvent();
    figures.add(job.value);
    figures.subtract(jobBefore.value);
    long nanos = Duration.between(jobBefore.written, job.written).toNanos();
    // Totals count an open wait as queueing. Take this out of both totals: once a wait has ended,
    // its causes are known. Of a wait that is still open, count only the part since the previous
    // totals.
    figures.addOpenWait(-openWaitNanos(job.value) + openWaitNanos(jobBefore.value));
    figures.addOpenWait(Math.min(openWaitNanos(job.value), nanos));
    figures.keptItems = job.value.keptItems - jobBefore.value.keptItems;
    figures.openWait = job.value.openWait;
    figures.longestWait = job.value.longestWait;
    return new JobRecording.Recent(nanos, figures);
  }

  /** Returns the nanoseconds of an open wait that these totals include. */
  private static long openWaitNanos(JobStatisticsEvent totals) {
    return totals.running && totals.batches > 0 ? totals.openWait : 0;
  }

  private static <E> List<E> values(Collection<Dated<E>> of) {
    return of.stream().map(Dated::value).toList();
  }

  private Map<String, String> configuration(Predicate<ConfigurationEvent> wanted) {
    Map<String, String> values = new TreeMap<>();
    configuration.forEach(
        (key, dated) -> {
          if (wanted.test(dated.value)) {
            values.put(key, String.valueOf(dated.value.value));
          }
        });
    return values;
  }
}
