package io.coordl.reports.whatif;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.recording.JobRecording;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What was measured of one job's pipeline: the input of every answer. Times are nanoseconds a
 * sample, sizes bytes; what is 0 among the counts, and null among the measures, is unknown.
 *
 * @param origin {@code profile}: from the phases of a profile; {@code recording}: from the epochs
 *     of an ordinary run, with wider errors
 * @param workers threads that fetch and prepare beside the training thread, 0 if it does so itself
 * @param computeNanos a sample's part of a training step
 * @param computeCores cores that a step keeps busy
 * @param prepNanos preparing a sample from memory, on one thread
 * @param prepSerialShare the part of that which more threads do not shorten, 0 to 1
 * @param missNanos what fetching a sample from storage takes a thread more than from memory
 * @param storageRate bytes a second of the storage at its highest
 * @param memoryRate bytes a second that items are read at from memory
 * @param decodeNanos the part of {@code prepNanos} that decodes
 * @param todayHit part of the items that memory answers today, 0 to 1
 * @param sampleBytes bytes of a sample as stored
 * @param batchSamples samples of a batch of this host
 * @param peers what the job shows of other hosts; null if it asked none
 * @param assumptions what every answer takes for granted
 * @param checks what the model says of phases it was not made from
 * @param missing what was not measured, by the name of the component
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Pipeline(
    String origin,
    long workers,
    @Nullable Measure computeNanos,
    @Nullable Measure computeCores,
    @Nullable Measure prepNanos,
    @Nullable Measure prepSerialShare,
    @Nullable Measure missNanos,
    @Nullable Measure storageRate,
    @Nullable Measure memoryRate,
    @Nullable Measure decodeNanos,
    @Nullable Measure todayHit,
    double sampleBytes,
    double batchSamples,
    @Nullable Peers peers,
    long datasetItems,
    long datasetBytes,
    long decodedItemBytes,
    long cores,
    long memoryBytes,
    long freeMemoryBytes,
    String frameworks,
    List<String> assumptions,
    List<Check> checks,
    List<Missing> missing) {

  /**
   * A phase that was measured, and what the model says of it.
   *
   * @param measuredNanos of a sample
   * @param predictedNanos of a sample
   */
  public record Check(String phase, Measure measuredNanos, Measure predictedNanos) {}

  /**
   * A job with a partitioned cache.
   *
   * @param hosts that hold the data set between them, this one included
   * @param share part of the items that other hosts answered, 0 to 1
   * @param rate bytes a second that a thread got of them
   * @param cacheBytes what this host may keep
   */
  public record Peers(long hosts, double share, double rate, long cacheBytes) {}

  /** Of a recording: by its profile if it has one, else by its epochs. */
  public static Pipeline of(JobRecording recording) {
    return recording.phases().isEmpty()
        ? new ObservedPipeline(recording).pipeline()
        : new ProfiledPipeline(recording).pipeline();
  }

  /** The same with the cores of a step as the user knows them; null: as they are here. */
  Pipeline with(@Nullable Double coresOfStep) {
    return coresOfStep == null
        ? this
        : with(Measure.exact(coresOfStep), missNanos, storageRate, missing);
  }

  /** The same with a storage of that many bytes a second where its rate was not measured. */
  Pipeline withStorage(double rate) {
    if (storageRate != null || sampleBytes <= 0) {
      return this;
    }
    return with(
        computeCores,
        missNanos == null ? Measure.exact(sampleBytes / rate * 1e9) : missNanos,
        Measure.exact(rate),
        missing.stream()
            .filter(one -> !one.figure().equals("storageRate") && !one.figure().equals("missNanos"))
            .toList());
  }

  private Pipeline with(
      @Nullable Measure otherCores,
      @Nullable Measure otherMissNanos,
      @Nullable Measure otherStorageRate,
      List<Missing> otherMissing) {
    return new Pipeline(
        origin,
        workers,
        computeNanos,
        otherCores,
        prepNanos,
        prepSerialShare,
        otherMissNanos,
        otherStorageRate,
        memoryRate,
        decodeNanos,
        todayHit,
        sampleBytes,
        batchSamples,
        peers,
        datasetItems,
        datasetBytes,
        decodedItemBytes,
        cores,
        memoryBytes,
        freeMemoryBytes,
        frameworks,
        assumptions,
        checks,
        otherMissing);
  }

  /** The job as it is; cores that nobody counted are no limit. */
  Setup today() {
    Setup alone =
        Setup.of((double) workers, cores == 0 ? Double.POSITIVE_INFINITY : (double) cores);
    if (peers == null) {
      return alone;
    }
    // The network's part is within what a thread waited.
    return alone.remote(peers.share(), sampleBytes / peers.rate() * 1e9, 0);
  }

  /** True if the training thread prepares its batches itself. */
  boolean isSerial() {
    return workers == 0;
  }

  /** A figure of the costs, with its error; what was not measured costs nothing. */
  Measure figure(ToDoubleFunction<Costs> figure) {
    return Measure.of(of -> figure.applyAsDouble(Costs.of(of)), inputs());
  }

  /** In the order of {@link Costs#of}. */
  private Measure[] inputs() {
    return Stream.of(
            computeNanos,
            computeCores,
            prepNanos,
            prepSerialShare,
            missNanos,
            nanos(storageRate),
            nanos(memoryRate),
            decodeNanos,
            todayHit)
        .map(measure -> Optional.ofNullable(measure).orElse(Measure.exact(0)))
        .toArray(Measure[]::new);
  }

  /** A sample's time at a rate in bytes a second. */
  private @Nullable Measure nanos(@Nullable Measure rate) {
    return rate == null ? null : rate.perSecond().times(sampleBytes);
  }

  /** Time of a sample. */
  Measure nanos(Setup setup) {
    return figure(costs -> costs.nanos(setup));
  }

  /** Samples a second of each job. */
  Measure speed(Setup setup) {
    return figure(costs -> 1e9 / costs.nanos(setup));
  }

  /** How many times as fast as in one setup a job is in another. */
  Measure gain(Setup from, Setup to) {
    return figure(costs -> costs.nanos(from) / costs.nanos(to));
  }

  /** What of these components was not measured. */
  List<Missing> missing(String... components) {
    List<String> wanted = List.of(components);
    return missing.stream().filter(one -> wanted.contains(one.figure())).toList();
  }

  /** The memory that is free for a cache as a part of the data set, at most 1. */
  double memoryShare() {
    return datasetBytes == 0 ? 0 : Math.min(1, (double) freeMemoryBytes / datasetBytes);
  }
}
