package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.whatif.Pipeline.Peers;
import io.coordl.telemetry.advice.CoreLaw;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.EnvironmentEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.steps.SteadySteps;
import io.coordl.telemetry.steps.StepMean;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Makes a {@link Pipeline} from the steps of an ordinary recording after warm-up. If it has too few
 * steps or lacks batch sizes, uses its epochs, without the first if possible. If the epochs lack
 * batch sizes, counts items as samples. Quantities that no ordinary run shows, such as the
 * storage's rate behind the page cache, stay missing.
 */
final class ObservedPipeline {
  /** Lower bound of the relative error of stages that were not measured alone. */
  private static final double MIN_ERROR = 0.1;

  /**
   * If the training thread waits for at least this share of the work, the work is not done in
   * parallel.
   */
  private static final double SERIAL = 0.9;

  /**
   * The assumptions mention the time that preparation takes from the steps if it is at least this
   * share of the steps' time.
   */
  private static final double WORTH_NAMING = 0.01;

  /** Possible error of an epoch's CPU time in nanoseconds; the kernel counts it in ticks. */
  private static final long EPOCH_CPU_ERROR_NANOS = 20_000_000;

  private static final String MEASURE = "measure it with coordl profile -- java ... your.Program.";

  private static final String STEP_CORES_UNKNOWN =
      "the recording does not show how many cores a step keeps busy: give --compute-cores N"
          + " (0 for an accelerator), or "
          + MEASURE;

  /** Minimum number of steps, because the spread of fewer is unknown. */
  private static final int MIN_STEPS = 10;

  private final JobRecording recording;

  /** Only epochs record which items came from memory. */
  private final List<EpochEvent> epochs;

  private final boolean knowsSamples;

  /** The steps after warm-up; empty if there are too few. */
  private final List<Figures> steps;

  private final Pipeline pipeline = new Pipeline("recording");
  private CoreLaw law = new CoreLaw(new EpochEvent(), 0);

  ObservedPipeline(JobRecording recording) {
    this.recording = recording;
    List<EpochEvent> complete = recording.completeEpochs();
    this.epochs = complete.size() < 2 ? complete : recording.steadyEpochs();
    List<Figures> steady =
        SteadySteps.of(recording.trainingSteps(), one -> (double) one.wall / one.batches).steps();
    boolean sized = steady.stream().allMatch(one -> one.samples > 0);
    this.steps = steady.size() >= MIN_STEPS && sized ? steady : List.of();
    this.knowsSamples = !epochs.isEmpty() && epochs.stream().allMatch(epoch -> epoch.samples > 0);
  }

  Pipeline pipeline() {
    pipeline.frameworks = Objects.requireNonNullElse(recording.frameworks(), "");
    need("storageRate", notShown("the rate of the storage behind the page cache"));
    EnvironmentEvent host = recording.environment();
    pipeline.cores = host == null ? 0 : host.cores;
    pipeline.usableCores = host == null ? 0 : host.usableCores();
    this.law = new CoreLaw(steadyFigures(), pipeline.usableCores);
    String device = Pipeline.device(recording);
    pipeline.computeCores =
        stepCores().orElse(pipeline.cores == 0 || device == null ? null : Measure.exact(0));
    if (pipeline.cores == 0 || pipeline.computeCores == null) {
      need("cores", pipeline.cores == 0 ? notShown("the number of cores") : STEP_CORES_UNKNOWN);
    }
    String reason = reasonForMissingTimes();
    if (reason != null) {
      List.of("computeNanos", "prepNanos", "missNanos", "decodeNanos", "todayHit", "sampleBytes")
          .forEach(component -> need(component, reason));
      return pipeline;
    }
    pipeline.assumptions.add(
        Text.format(
            "%sthe %s show the time of each stage to within %d %% or their spread, whichever is"
                + " larger",
            knowsSamples ? "" : "an item is a sample, and ", shown(), Math.round(100 * MIN_ERROR)));
    boolean serial = inferSerial();
    Measure fetch = mean(epoch -> serial ? epoch.fetchStall : epoch.fetchTime);
    Measure prep =
        mean(
            epoch ->
                serial
                    ? epoch.prepStall + epoch.gcStall + epoch.queueStall
                    : law.running() * (epoch.decodeTime + epoch.transformTime + epoch.otherTime));
    Figures all = EpochEvent.sum(epochs.stream());
    double bytes = all.bytes() / unit(all);
    Peers peers = peers(all);
    pipeline.workers = serial ? 0 : workers(prep.plus(fetch).value());
    pipeline.computeNanos = mean(epoch -> epoch.compute);
    pipeline.prepNanos = prep;
    if (!serial) {
      separateShareTaken(prep);
    }
    pipeline.decodeNanos = mean(epoch -> (serial ? 1 : law.running()) * epoch.decodeTime);
    if (all.items == 0) {
      pipeline.missNanos = Measure.exact(0);
      pipeline.todayHit = Measure.exact(1);
      need("sampleBytes", noItems());
      pipeline.assumptions.add("no file is fetched, so fetching costs nothing");
    } else {
      Measure hits = hits();
      pipeline.missNanos = miss(fetch, hits, bytes, peers);
      pipeline.todayHit = hits;
    }
    pipeline.sampleBytes = bytes;
    pipeline.batchSamples = unit(all) / all.batches;
    pipeline.peers = peers;
    pipeline.datasetItems = Math.round((double) all.items / epochs.size());
    pipeline.datasetBytes = Math.round((double) all.bytes() / epochs.size());
    pipeline.assumptions.add(
        pipeline.computeCores != null && pipeline.computeCores.value() > 0
            ? Text.format(
                "a step keeps %s cores busy: the CPU time of the process less that of preparation"
                    + " (--compute-cores overrides this)",
                pipeline.computeCores.text())
            : device == null
                ? "a step leaves the cores to preparation, unless --compute-cores says otherwise"
                : Pipeline.onDevice(device));
    pipeline.checks.add(
        new Pipeline.Check(
            shown(),
            mean(epoch -> epoch.wall - epoch.checkpoint),
            pipeline.nanos(pipeline.today())));
    return pipeline;
  }

  /**
   * Returns the cores that the steps kept busy: the CPU time of the process without that of
   * preparation, divided by the time of the steps. If all cores are busy and waits for them were
   * not recorded, the measured time of preparation may exceed its CPU time; the upper bound is then
   * the CPU time of the whole process.
   */
  private Optional<Measure> stepCores() {
    Figures all = steadyFigures();
    if (all.cpu == 0 || all.compute == 0) {
      return Optional.empty();
    }
    double steps = Math.max(1, all.compute - law.share());
    double most = all.cpu / steps;
    double prep = (double) all.prepTime() - all.prepCoreWait;
    double busy = Math.max(0, (all.cpu - prep) / steps);
    boolean crowded = law.isFull() && all.coreWait == 0;
    double error =
        Math.max(MIN_ERROR * most, EPOCH_CPU_ERROR_NANOS * recording.steadyEpochs().size() / steps);
    if (pipeline.cores > 0) {
      busy = Math.min(busy, (double) pipeline.cores);
    }
    return Optional.of(
        crowded
            ? new Measure((busy + most) / 2, (most - busy) / 2 + error)
            : new Measure(busy, error));
  }

  /** Returns the sum of the steady epochs whose CPU time is known. */
  private Figures steadyFigures() {
    return EpochEvent.sum(
        recording.steadyEpochs().stream().filter(epoch -> epoch.cpu > 0 && epoch.compute > 0));
  }

  /**
   * Separates the steps' own time from the time that they lost to preparation on the same cores;
   * they get the latter back as preparation shrinks.
   */
  private void separateShareTaken(Measure prep) {
    double compute = steadyFigures().compute;
    Measure observed = pipeline.computeNanos;
    if (observed == null || compute == 0 || law.maxShare() == 0 || prep.value() == 0) {
      return;
    }
    double taken = law.share() / compute;
    double unsure = (law.maxShare() - law.share()) / compute;
    pipeline.computeNanos =
        new Measure(
            observed.value() * (1 - taken),
            Math.hypot(observed.error(), observed.value() * unsure));
    pipeline.stepShareTaken =
        new Measure(
            Math.min(1, observed.value() * taken / prep.value()),
            observed.value() * unsure / prep.value());
    if (taken >= WORTH_NAMING) {
      pipeline.assumptions.add(
          Text.format(
              "cores are short: preparation beside the steps takes %.0f to %.0f %% of their time;"
                  + " they get it back as preparation shrinks (shared caches and hyper-threads can"
                  + " increase this loss)",
              100 * taken, 100 * (taken + unsure)));
    }
  }

  private static String notShown(String what) {
    return "an ordinary run does not show " + what + "; " + MEASURE;
  }

  private void need(String component, String reason) {
    pipeline.missing.add(new Missing(component, reason));
  }

  private String shown() {
    return observesEpochs() ? "epochs after the first" : "steps after warm-up";
  }

  /** Returns the number of samples, or of items if batch sizes are unknown. */
  private double unit(Figures figures) {
    return knowsSamples ? figures.samples : figures.items;
  }

  /** Returns why the recording does not show the times of the stages; null if it does. */
  private @Nullable String reasonForMissingTimes() {
    if (epochs.isEmpty() || (observesEpochs() && recording.steadyEpochs().size() < 2)) {
      return "the recording needs a complete epoch with "
          + MIN_STEPS
          + " steps after warm-up, or three complete epochs: let the job train longer, or "
          + MEASURE;
    }
    boolean fetches = epochs.stream().anyMatch(epoch -> epoch.items > 0);
    if (!fetches && keepsPrepared()) {
      return "after the first epoch, the job fetches no items, as it keeps them decoded or"
          + " prepared, so the recording does not show what fetching and decoding cost: record the"
          + " job once without decoded=share and prepared=share, or "
          + MEASURE;
    }
    return fetches || knowsSamples ? null : noItems();
  }

  private boolean observesEpochs() {
    return steps.isEmpty() || !knowsSamples;
  }

  private String noItems() {
    if (recording.epochs().stream().anyMatch(epoch -> epoch.items > 0)) {
      return "the job reads its files in the first epoch only and then keeps their content itself:"
          + " no cache of files helps it";
    }
    return "after the first epoch, the job fetches no items that the agent knows: say which files"
        + " are the data set with dataset=PATH, or "
        + MEASURE;
  }

  private boolean keepsPrepared() {
    return recording.stores().stream()
        .anyMatch(store -> !store.keeps(StoreStatisticsEvent.RAW) && store.hits > 0);
  }

  /** Returns what the other hosts contributed; null if no request to them found an item. */
  private @Nullable Peers peers(Figures all) {
    long found = recording.peers().stream().mapToLong(peer -> peer.found).sum();
    long bytes = recording.peers().stream().mapToLong(peer -> peer.receivedBytes).sum();
    long nanos = recording.peers().stream().mapToLong(peer -> peer.foundTime).sum();
    if (found == 0 || bytes == 0 || nanos == 0) {
      return null;
    }
    return new Peers(
        1L + recording.peers().size(),
        (double) all.peerItems / Math.max(1, all.items),
        bytes * 1e9 / nanos,
        recording.stores().stream()
            .filter(store -> store.keeps(StoreStatisticsEvent.RAW))
            .mapToLong(store -> store.capacity)
            .sum());
  }

  /**
   * Returns the extra time of a sample whose items come from storage; null if no item did. Assumes
   * that items from memory take almost no time, and subtracts the time of items from other hosts.
   */
  private @Nullable Measure miss(Measure fetch, Measure hits, double bytes, @Nullable Peers peers) {
    double answered = hits.value() + (peers == null ? 0 : peers.share());
    if (answered >= 1) {
      need("missNanos", notShown("the cost of fetching from storage"));
      return null;
    }
    pipeline.assumptions.add(
        "a fetch from storage takes as long as today, when the page cache may serve part of it");
    return fetch
        .minus(Measure.exact(peers == null ? 0 : peers.share() * bytes / peers.rate() * 1e9))
        .atLeastZero()
        .times(1 / (1 - answered));
  }

  /**
   * Returns whether the training thread waited for nearly all preparation; adds this as an
   * assumption.
   */
  private boolean inferSerial() {
    Figures all = EpochEvent.sum((observesEpochs() ? epochs : steps).stream());
    long done = all.work();
    boolean serial = all.stall >= SERIAL * done;
    pipeline.assumptions.add(
        serial
            ? "the training thread prepares its batches itself, as it waited for nearly all of"
                + " their preparation"
            : "threads beside the training thread prepare its batches, as it waited for only part"
                + " of their preparation");
    return serial;
  }

  /** Returns the mean number of busy workers, which is all of them if the job waited for them. */
  private long workers(double busyNanos) {
    double busy = busyNanos / mean(epoch -> epoch.wall).value();
    long workers = Math.max(1, Math.round(busy));
    pipeline.assumptions.add(
        Text.format(
            "there %s, as %.1f were busy on average",
            workers == 1 ? "is one such thread" : "are " + workers + " such threads", busy));
    return workers;
  }

  /** Returns the mean of a time per sample, with its error. */
  private Measure mean(ToDoubleFunction<Figures> nanos) {
    Measure mean =
        observesEpochs()
            ? Measure.mean(
                epochs.stream()
                    .mapToDouble(epoch -> nanos.applyAsDouble(epoch) / unit(epoch))
                    .toArray())
            : of(StepMean.of(steps, nanos, this::unit));
    return new Measure(mean.value(), Math.max(mean.error(), MIN_ERROR * mean.value()));
  }

  private static Measure of(StepMean mean) {
    return new Measure(mean.value(), mean.halfWidth());
  }

  /** Returns the share of items that came from memory. */
  private Measure hits() {
    double[] hits =
        epochs.stream()
            .filter(epoch -> epoch.items > 0)
            .mapToDouble(epoch -> (double) epoch.memoryItems / epoch.items)
            .toArray();
    return hits.length < 2 ? Measure.exact(hits[0]) : Measure.mean(hits);
  }
}
