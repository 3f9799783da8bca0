package io.coordl.reports.whatif;

import io.coordl.advice.Text;
import io.coordl.event.EnvironmentEvent;
import io.coordl.event.EpochEvent;
import io.coordl.event.Figures;
import io.coordl.event.StoreStatisticsEvent;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.whatif.Pipeline.Peers;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Makes a {@link Pipeline} of the epochs of an ordinary recording, the first left out. Items are
 * taken for samples. What no ordinary run shows, such as the storage's rate behind the page cache,
 * stays missing.
 */
final class ObservedPipeline {
  /** Stages that were not measured alone are not known better than this. */
  private static final double LEAST_ERROR = 0.1;

  /** Work that the training thread waits for nearly all of is not done beside it. */
  private static final double SERIAL = 0.9;

  /** Share of the cores' time from which on threads wait for a core. */
  private static final double CROWDED = 0.9;

  /** By which the CPU time of an epoch may be wrong: it is counted in ticks. */
  private static final long TICKS = 20_000_000;

  private static final String PROFILE =
      ": an ordinary run does not show it; measure it with coordl profile -- java ..."
          + " your.Program.";

  private static final String BUSY =
      "how many of the cores a step keeps busy: the recording does not say it; say it with"
          + " --compute-cores (0 for an accelerator), or measure it with coordl profile -- java ..."
          + " your.Program.";

  private final JobRecording recording;
  private final List<EpochEvent> epochs;
  private final Pipeline pipeline = new Pipeline("recording");

  ObservedPipeline(JobRecording recording) {
    this.recording = recording;
    this.epochs = recording.steadyEpochs().stream().filter(epoch -> epoch.items > 0).toList();
  }

  Pipeline pipeline() {
    pipeline.frameworks = Objects.requireNonNullElse(recording.frameworks(), "");
    need("storageRate", "the rate of the storage behind the page cache" + PROFILE);
    EnvironmentEvent host = recording.environment();
    pipeline.cores = host == null ? 0 : host.cores;
    String device = Pipeline.device(recording);
    pipeline.computeCores =
        stepCores().orElse(pipeline.cores == 0 || device == null ? null : Measure.exact(0));
    if (pipeline.cores == 0 || pipeline.computeCores == null) {
      need("cores", pipeline.cores == 0 ? "the number of cores" + PROFILE : BUSY);
    }
    if (epochs.size() < 2) {
      String reason = tooFew();
      List.of("computeNanos", "prepNanos", "missNanos", "decodeNanos", "todayHit", "sampleBytes")
          .forEach(component -> need(component, reason));
      return pipeline;
    }
    pipeline.assumptions.add(
        "an item is a sample, and the epochs after the first show what each stage takes within "
            + Math.round(100 * LEAST_ERROR)
            + " % or their spread, whichever is more");
    boolean serial = isSerial();
    Measure fetch = mean(epoch -> serial ? epoch.fetchStall : epoch.fetchTime);
    Measure prep =
        mean(
            epoch ->
                serial
                    ? epoch.prepStall + epoch.gcStall + epoch.queueStall
                    : epoch.decodeTime + epoch.transformTime + epoch.otherTime);
    Measure hits = ratio(epoch -> epoch.memoryItems, 0);
    double bytes =
        ratio(epoch -> epoch.memoryBytes + epoch.peerBytes + epoch.storageBytes, 0).value();
    double items = epochs.stream().mapToLong(epoch -> epoch.items).average().orElseThrow();
    Peers peers = peers();
    pipeline.workers = serial ? 0 : workers(prep.plus(fetch).value());
    pipeline.computeNanos = mean(epoch -> epoch.compute);
    pipeline.prepNanos = prep;
    pipeline.missNanos = miss(fetch, hits, bytes, peers);
    pipeline.decodeNanos = mean(epoch -> epoch.decodeTime);
    pipeline.todayHit = hits;
    pipeline.sampleBytes = bytes;
    pipeline.batchSamples =
        items / epochs.stream().mapToLong(epoch -> epoch.batches).average().orElseThrow();
    pipeline.peers = peers;
    pipeline.datasetItems = Math.round(items);
    pipeline.datasetBytes = Math.round(bytes * items);
    pipeline.assumptions.add(
        pipeline.computeCores != null && pipeline.computeCores.value() > 0
            ? Text.format(
                "a step keeps %s cores busy: the CPU time of the process less that of preparation"
                    + " (--compute-cores says otherwise)",
                pipeline.computeCores.text())
            : device == null
                ? "a step leaves the cores to preparation, unless --compute-cores says otherwise"
                : Pipeline.onDevice(device));
    pipeline.checks.add(
        new Pipeline.Check(
            "epochs after the first",
            mean(epoch -> epoch.wall - epoch.checkpoint),
            pipeline.nanos(pipeline.today())));
    return pipeline;
  }

  /**
   * Cores that the steps kept busy: the CPU time of the process that preparation did not take, over
   * the time of the steps. Where threads wait for a core, preparation takes longer than its CPU
   * time, so the steps may have taken all of that, too.
   */
  private Optional<Measure> stepCores() {
    List<EpochEvent> known =
        recording.steadyEpochs().stream()
            .filter(epoch -> epoch.cpu > 0 && epoch.compute > 0)
            .toList();
    if (known.isEmpty()) {
      return Optional.empty();
    }
    Figures all = EpochEvent.sum(known.stream());
    double most = (double) all.cpu / all.compute;
    double busy = Math.max(0, (double) (all.cpu - all.prepTime()) / all.compute);
    boolean crowded = pipeline.cores > 0 && all.cpu > CROWDED * pipeline.cores * all.wall;
    double error = Math.max(LEAST_ERROR * most, (double) TICKS * known.size() / all.compute);
    if (pipeline.cores > 0) {
      busy = Math.min(busy, (double) pipeline.cores);
    }
    return Optional.of(
        crowded
            ? new Measure((busy + most) / 2, (most - busy) / 2 + error)
            : new Measure(busy, error));
  }

  private void need(String component, String reason) {
    pipeline.missing.add(new Missing(component, reason));
  }

  /** Why there are no epochs to look at, and what to do about it. */
  private String tooFew() {
    int complete = recording.steadyEpochs().size();
    String measure = "measure it with coordl profile -- java ... your.Program.";
    if (complete < 2) {
      return "it takes at least three complete epochs, and the recording has too few: let the job"
          + " train on, or "
          + measure;
    }
    boolean decoded =
        recording.stores().stream()
            .anyMatch(store -> !store.keeps(StoreStatisticsEvent.RAW) && store.hits > 0);
    return "from the second epoch on the job fetches no items"
        + (decoded
            ? ", as it keeps them decoded or prepared, so what fetching and decoding cost does not"
                + " show: record it once without decoded=share and prepared=share, or "
            : " that the agent knows: say which files are the data set with dataset=PATH, or ")
        + measure;
  }

  /** What other hosts were asked, whatever the epoch; null if nothing. */
  private @Nullable Peers peers() {
    long found = recording.peers().stream().mapToLong(peer -> peer.found).sum();
    long bytes = recording.peers().stream().mapToLong(peer -> peer.receivedBytes).sum();
    long nanos = recording.peers().stream().mapToLong(peer -> peer.foundTime).sum();
    if (found == 0 || bytes == 0 || nanos == 0) {
      return null;
    }
    return new Peers(
        1L + recording.peers().size(),
        ratio(epoch -> epoch.peerItems, 0).value(),
        bytes * 1e9 / nanos,
        recording.stores().stream()
            .filter(store -> store.keeps(StoreStatisticsEvent.RAW))
            .mapToLong(store -> store.capacity)
            .sum());
  }

  /** Items from memory take next to nothing beside those from storage; other hosts do not. */
  private @Nullable Measure miss(Measure fetch, Measure hits, double bytes, @Nullable Peers peers) {
    double answered = hits.value() + (peers == null ? 0 : peers.share());
    if (answered >= 1) {
      need("missNanos", "fetching from storage" + PROFILE);
      return null;
    }
    pipeline.assumptions.add(
        "a fetch from storage takes what it takes today, the page cache's part in that included");
    return fetch
        .minus(Measure.exact(peers == null ? 0 : peers.share() * bytes / peers.rate() * 1e9))
        .atLeastZero()
        .times(1 / (1 - answered));
  }

  /** True if the training thread waited for nearly all that was done for it. */
  private boolean isSerial() {
    Figures all = EpochEvent.sum(epochs.stream());
    long done = all.fetchTime + all.decodeTime + all.transformTime + all.otherTime;
    boolean serial = all.stall >= SERIAL * done;
    pipeline.assumptions.add(
        serial
            ? "the training thread prepares its batches itself, as it waited for all of that"
            : "threads beside the training thread prepare, as it did not wait for all of that");
    return serial;
  }

  /** As many as were busy on average, which is all of them if the job waited for them. */
  private long workers(double busyNanos) {
    double busy = busyNanos / mean(epoch -> epoch.wall).value();
    long workers = Math.max(1, Math.round(busy));
    pipeline.assumptions.add(
        Text.format(
            "there %s, as %.1f were busy on average",
            workers == 1 ? "is one such thread" : "are " + workers + " such threads", busy));
    return workers;
  }

  private Measure mean(ToDoubleFunction<EpochEvent> nanos) {
    return ratio(nanos, LEAST_ERROR);
  }

  /** Of an item. */
  private Measure ratio(ToDoubleFunction<EpochEvent> figure, double leastError) {
    Measure mean =
        Measure.mean(
            epochs.stream()
                .mapToDouble(epoch -> figure.applyAsDouble(epoch) / epoch.items)
                .toArray());
    return new Measure(mean.value(), Math.max(mean.error(), leastError * mean.value()));
  }
}
