package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.recording.Epoch;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.JobStatistics;
import io.coordl.reports.text.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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

  private static final String PROFILE =
      ": an ordinary run does not show it; measure it with coordl profile -- java ..."
          + " your.Program.";

  private final JobRecording recording;
  private final List<Epoch> epochs;
  private final List<String> assumptions = new ArrayList<>();
  private final List<Missing> missing = new ArrayList<>();

  ObservedPipeline(JobRecording recording) {
    this.recording = recording;
    this.epochs = recording.steadyEpochs().stream().filter(epoch -> epoch.items() > 0).toList();
  }

  Pipeline pipeline() {
    missing.add(
        new Missing("storageRate", "the rate of the storage behind the page cache" + PROFILE));
    missing.add(new Missing("cores", "the number of cores" + PROFILE));
    if (epochs.size() < 2) {
      String reason =
          "it takes at least three complete epochs that fetch items: let the job train on, or"
              + " measure it with coordl profile -- java ... your.Program.";
      List.of("computeNanos", "prepNanos", "missNanos", "decodeNanos", "todayHit", "sampleBytes")
          .forEach(component -> missing.add(new Missing(component, reason)));
      return pipeline(0, null, null, null, null, null, 0, 0, 0);
    }
    assumptions.add(
        "an item is a sample, and the epochs after the first show what each stage takes within "
            + Math.round(100 * LEAST_ERROR)
            + " % or their spread, whichever is more");
    boolean serial = isSerial();
    Measure fetch = serial ? mean(Epoch::fetchStall) : mean(Epoch::fetchTime);
    Measure prep =
        serial
            ? mean(epoch -> epoch.prepStall() + epoch.gcStall() + epoch.queueStall())
            : mean(epoch -> epoch.decodeTime() + epoch.transformTime() + epoch.otherTime());
    Measure hits = ratio(Epoch::memoryItems, 0);
    double bytes = ratio(epoch -> epoch.memoryBytes() + epoch.storageBytes(), 0).value();
    double items = epochs.stream().mapToLong(Epoch::items).average().orElseThrow();
    return pipeline(
        serial ? 0 : workers(prep.plus(fetch).value()),
        mean(Epoch::compute),
        prep,
        miss(fetch, hits),
        mean(Epoch::decodeTime),
        hits,
        bytes,
        Math.round(items),
        Math.round(bytes * items));
  }

  /** Items from memory take next to nothing beside those from storage. */
  private @Nullable Measure miss(Measure fetch, Measure hits) {
    if (hits.value() >= 1) {
      missing.add(new Missing("missNanos", "fetching from storage" + PROFILE));
      return null;
    }
    assumptions.add(
        "a fetch from storage takes what it takes today, the page cache's part in that included");
    return fetch.times(1 / (1 - hits.value()));
  }

  /** True if the training thread waited for nearly all that was done for it. */
  private boolean isSerial() {
    long waited = epochs.stream().mapToLong(Epoch::stall).sum();
    long done =
        epochs.stream()
            .mapToLong(
                epoch ->
                    epoch.fetchTime()
                        + epoch.decodeTime()
                        + epoch.transformTime()
                        + epoch.otherTime())
            .sum();
    boolean serial = waited >= SERIAL * done;
    assumptions.add(
        serial
            ? "the training thread prepares its batches itself, as it waited for all of that"
            : "threads beside the training thread prepare, as it did not wait for all of that");
    return serial;
  }

  /** As many as were busy on average, which is all of them if the job waited for them. */
  private long workers(double busyNanos) {
    double busy = busyNanos / mean(Epoch::wall).value();
    long workers = Math.max(1, Math.round(busy));
    assumptions.add(
        "there are "
            + workers
            + " such threads, as "
            + Text.format("%.1f", busy)
            + " were busy on average");
    return workers;
  }

  private Measure mean(ToDoubleFunction<Epoch> nanos) {
    return ratio(nanos, LEAST_ERROR);
  }

  /** Of an item. */
  private Measure ratio(ToDoubleFunction<Epoch> figure, double leastError) {
    Measure mean =
        Measure.mean(
            epochs.stream()
                .mapToDouble(epoch -> figure.applyAsDouble(epoch) / epoch.items())
                .toArray());
    return new Measure(mean.value(), Math.max(mean.error(), leastError * mean.value()));
  }

  private Pipeline pipeline(
      long workers,
      @Nullable Measure compute,
      @Nullable Measure prep,
      @Nullable Measure miss,
      @Nullable Measure decode,
      @Nullable Measure hits,
      double sampleBytes,
      long items,
      long bytes) {
    JobStatistics job = recording.job();
    return new Pipeline(
        "recording",
        workers,
        compute,
        null,
        prep,
        null,
        miss,
        null,
        null,
        decode,
        hits,
        sampleBytes,
        items,
        bytes,
        0,
        0,
        0,
        0,
        job == null ? "" : Objects.requireNonNullElse(job.frameworks(), ""),
        List.copyOf(assumptions),
        List.of(),
        List.copyOf(missing));
  }
}
