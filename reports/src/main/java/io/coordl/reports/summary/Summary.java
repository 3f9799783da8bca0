package io.coordl.reports.summary;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.coordl.advice.Advice;
import io.coordl.advice.Evidence;
import io.coordl.advice.Figures;
import io.coordl.advice.Passes;
import io.coordl.event.EpochEvent;
import io.coordl.event.FaultEvent;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.LatencyStatisticsEvent;
import io.coordl.event.PeerStatisticsEvent;
import io.coordl.event.StagingStatisticsEvent;
import io.coordl.event.StoreStatisticsEvent;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Jvm;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The summary of one recording, in the shape of its JSON: {@code summary.schema.json} describes it,
 * and a change that an old reader would not understand raises {@link #SCHEMA_VERSION}. Names of
 * times end in {@code Nanos}, names of sizes in {@code Bytes}; what is not known is left out.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Summary(
    int schemaVersion,
    Source recording,
    Program program,
    Map<String, String> configuration,
    Totals totals,
    List<Pass> epochs,
    List<Store> stores,
    List<Peer> peers,
    List<Staging> stagings,
    List<Latency> latencies,
    Faults faults,
    Next next) {

  static final int SCHEMA_VERSION = 1;

  /** The file; {@code events} counts those of the JVM too. */
  record Source(String file, long fileBytes, long events, boolean endsEarly) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Program(
      @Nullable String mainClass,
      @Nullable String frameworks,
      @Nullable Long pid,
      @Nullable String jvm) {}

  /**
   * @param origin {@code job}: the agent's own totals; {@code epochs}: the sum of the epochs, as
   *     the recording ends before the agent wrote totals that include them
   */
  record Totals(
      String origin,
      long passes,
      long epochs,
      long leftEarly,
      long evaluations,
      @JsonUnwrapped Figures figures) {}

  /**
   * @param epoch number of the pass
   * @param kind {@code epoch}, {@code evaluation}, or {@code pass} where no update of a model was
   *     seen, so that nobody knows
   * @param number of the pass among those of its kind
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Pass(
      long epoch,
      String kind,
      long number,
      @Nullable String source,
      boolean complete,
      @JsonUnwrapped Figures figures) {
    static final String EPOCH = "epoch";
    static final String EVALUATION = "evaluation";
    static final String UNKNOWN = "pass";

    boolean isEvaluation() {
      return kind.equals(EVALUATION);
    }
  }

  /**
   * {@code hitRatio}: hits of hits and misses, 0 to 1; absent if nothing was asked for. {@code
   * order} and what follows from it: present where raw and decoded items share the budget and it
   * was chosen which come first.
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Store(
      @Nullable String store,
      @Nullable String scope,
      @Nullable String group,
      long capacityBytes,
      long usedBytes,
      long items,
      long hits,
      long misses,
      @Nullable Double hitRatio,
      long admitted,
      long peer,
      long bypassed,
      long hitBytes,
      long peerBytes,
      @Nullable String order,
      @Nullable Long itemBytes,
      @Nullable Long itemSavesNanos,
      long jobs) {}

  /** What was asked of one other host. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Peer(
      @Nullable String peer,
      long found,
      long absent,
      long kept,
      long late,
      long failed,
      long receivedBytes,
      long sentBytes,
      long foundNanos,
      long keptNanos,
      long lostNanos) {}

  /** Coordinated prep of one pipeline. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Staging(
      @Nullable String group,
      @Nullable String pipeline,
      long capacityBytes,
      long slots,
      long slotBytes,
      long jobs,
      long passes,
      long sharedPasses,
      long prepared,
      long mapped,
      long copied,
      long takenBytes,
      long nobody,
      long notStaged,
      long late,
      long lost,
      long waitedNanos,
      long waitedForNanos,
      long slowestJob,
      long waitedForSlowestNanos,
      long takeOvers,
      long dropped,
      long tooLate,
      long updates) {}

  record Latency(
      String kind,
      long count,
      long totalNanos,
      long minimumNanos,
      long meanNanos,
      long p50Nanos,
      long p90Nanos,
      long p99Nanos,
      long p999Nanos,
      long maximumNanos) {}

  record Faults(long count, List<Example> examples) {
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Example(@Nullable String where, @Nullable String cause, @Nullable String action) {}
  }

  /**
   * What to try next: the finding's stable name, a sentence, arguments of the agent, and how many
   * times as fast the job gets at most, 1 if nothing is to be changed.
   */
  record Next(String finding, String sentence, List<String> arguments, double gain) {}

  /** Makes the summary of a recording. */
  public static Summary of(JobRecording recording) {
    List<Pass> epochs = passes(recording);
    List<Store> stores = recording.stores().stream().map(Summary::store).toList();
    Totals totals = totals(recording.job(), epochs);
    Program program = program(recording.job(), recording.jvm());
    Advice advice = Advice.on(evidence(recording, totals, epochs));
    return new Summary(
        SCHEMA_VERSION,
        new Source(
            recording.file().toString(),
            recording.bytes(),
            recording.events(),
            recording.endsEarly()),
        program,
        new TreeMap<>(recording.configuration()),
        totals,
        epochs,
        stores,
        recording.peers().stream().map(Summary::peer).toList(),
        recording.stagings().stream().map(Summary::staging).toList(),
        recording.latencies().stream().map(Summary::latency).toList(),
        faults(recording),
        new Next(advice.finding(), advice.sentence(), advice.arguments(), advice.gain()));
  }

  /** What the findings look at. */
  Evidence evidence(JobRecording recording) {
    return evidence(recording, totals, epochs);
  }

  private static Evidence evidence(JobRecording recording, Totals totals, List<Pass> epochs) {
    JobStatisticsEvent job = recording.job();
    return new Evidence(
        totals.figures(),
        ended(epochs),
        recording.stores().stream()
            .map(
                store ->
                    new Evidence.Store("decoded".equals(store.store), store.full, store.capacity))
            .toList(),
        recording.configuration(),
        recording.given(),
        job == null || job.frameworks == null ? "" : job.frameworks,
        1 + recording.peers().size());
  }

  static Passes ended(List<Pass> passes) {
    Passes ended = new Passes();
    passes.forEach(
        pass ->
            ended.add(
                pass.kind().equals(Pass.EPOCH), pass.source(), pass.complete(), pass.figures()));
    return ended;
  }

  /**
   * The agent writes its totals whenever a chunk ends. After a crash or a signal the last of them
   * may be older than the last epochs, which were written one by one; then the epochs count, so
   * that totals and epochs say the same.
   */
  private static Totals totals(@Nullable JobStatisticsEvent job, List<Pass> epochs) {
    Passes ended = ended(epochs);
    Figures sum = epochs.stream().map(Pass::figures).reduce(Figures.NONE, Figures::plus);
    if (job == null || isOlder(figures(job), sum)) {
      return new Totals(
          "epochs",
          epochs.size(),
          count(epochs, Pass.EPOCH),
          ended.leftEarly(count(epochs, Pass.EPOCH)),
          count(epochs, Pass.EVALUATION),
          sum);
    }
    return new Totals(
        "job", job.passes, job.epochs, ended.leftEarly(job.epochs), job.evaluations, figures(job));
  }

  /** What all epochs together did the job has done, or its totals were written before their end. */
  private static boolean isOlder(Figures job, Figures epochs) {
    return job.batches() < epochs.batches()
        || job.computeNanos() < epochs.computeNanos()
        || job.stallNanos() < epochs.stallNanos();
  }

  private static Figures figures(JobStatisticsEvent job) {
    return new Figures(
        job.wall,
        job.batches,
        job.compute,
        job.stall,
        job.fetchStall,
        job.prepStall,
        job.gcStall,
        job.queueStall,
        job.checkpoint,
        job.fetchTime,
        job.decodeTime,
        job.transformTime,
        job.otherTime,
        job.items,
        job.memoryItems,
        job.peerItems,
        job.storageItems,
        job.memoryBytes,
        job.peerBytes,
        job.storageBytes);
  }

  private static Figures figures(EpochEvent epoch) {
    return new Figures(
        epoch.wall,
        epoch.batches,
        epoch.compute,
        epoch.stall,
        epoch.fetchStall,
        epoch.prepStall,
        epoch.gcStall,
        epoch.queueStall,
        epoch.checkpoint,
        epoch.fetchTime,
        epoch.decodeTime,
        epoch.transformTime,
        epoch.otherTime,
        epoch.items,
        epoch.memoryItems,
        epoch.peerItems,
        epoch.storageItems,
        epoch.memoryBytes,
        epoch.peerBytes,
        epoch.storageBytes);
  }

  private static long count(List<Pass> epochs, String kind) {
    return epochs.stream().filter(pass -> pass.kind().equals(kind)).count();
  }

  private static Program program(@Nullable JobStatisticsEvent job, @Nullable Jvm jvm) {
    return new Program(
        job == null ? null : job.mainClass,
        job == null ? null : job.frameworks,
        jvm == null ? null : jvm.pid(),
        jvm == null ? null : jvm.jvmVersion());
  }

  private static List<Pass> passes(JobRecording recording) {
    Map<String, Long> numbers = new HashMap<>();
    List<Pass> passes = new ArrayList<>();
    recording.epochs().stream()
        .sorted(Comparator.comparingLong(epoch -> epoch.epoch))
        .forEach(
            epoch -> {
              String kind =
                  !recording.knowsTraining()
                      ? Pass.UNKNOWN
                      : epoch.updates > 0 ? Pass.EPOCH : Pass.EVALUATION;
              passes.add(
                  new Pass(
                      epoch.epoch,
                      kind,
                      numbers.merge(kind, 1L, Long::sum),
                      epoch.source,
                      epoch.complete,
                      figures(epoch)));
            });
    return passes;
  }

  private static Store store(StoreStatisticsEvent store) {
    long openings = store.hits + store.misses;
    boolean ordered = store.order != null && !store.order.isEmpty();
    return new Store(
        store.store,
        store.scope,
        store.group,
        store.capacity,
        store.used,
        store.items,
        store.hits,
        store.misses,
        openings == 0 ? null : (double) store.hits / openings,
        store.admitted,
        store.peer,
        store.bypassed,
        store.hitBytes,
        store.peerBytes,
        ordered ? store.order : null,
        ordered ? (Long) store.itemBytes : null,
        ordered ? (Long) store.itemSaves : null,
        store.jobs);
  }

  private static Peer peer(PeerStatisticsEvent peer) {
    return new Peer(
        peer.peer,
        peer.found,
        peer.absent,
        peer.kept,
        peer.late,
        peer.failed,
        peer.receivedBytes,
        peer.sentBytes,
        peer.foundTime,
        peer.keptTime,
        peer.lostTime);
  }

  private static Staging staging(StagingStatisticsEvent staging) {
    return new Staging(
        staging.group,
        staging.pipeline,
        staging.capacity,
        staging.slots,
        staging.slotBytes,
        staging.jobs,
        staging.passes,
        staging.sharedPasses,
        staging.prepared,
        staging.mapped,
        staging.copied,
        staging.takenBytes,
        staging.nobody,
        staging.notStaged,
        staging.late,
        staging.lost,
        staging.waited,
        staging.waitedFor,
        staging.slowestJob,
        staging.waitedForSlowest,
        staging.takeOvers,
        staging.dropped,
        staging.tooLate,
        staging.updates);
  }

  private static Latency latency(LatencyStatisticsEvent latency) {
    return new Latency(
        String.valueOf(latency.kind),
        latency.count,
        latency.total,
        latency.minimum,
        latency.mean,
        latency.p50,
        latency.p90,
        latency.p99,
        latency.p999,
        latency.maximum);
  }

  private static Faults faults(JobRecording recording) {
    JobStatisticsEvent job = recording.job();
    return new Faults(
        Math.max(recording.faults(), job == null ? 0 : job.faults),
        recording.firstFaults().stream().map(Summary::example).toList());
  }

  private static Faults.Example example(FaultEvent fault) {
    return new Faults.Example(fault.where, fault.cause, fault.action);
  }
}
