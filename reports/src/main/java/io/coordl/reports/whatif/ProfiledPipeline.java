package io.coordl.reports.whatif;

import io.coordl.reports.differential.Differential;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.differential.Timing;
import io.coordl.reports.recording.JobRecording;
import io.coordl.telemetry.event.HostEvent;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Makes a {@link Pipeline} from the phases of a profile. Without workers, the times of the stages
 * are differences between phases. With workers, they come from the stages measured alone and from
 * the workers' own times.
 */
final class ProfiledPipeline {
  private static final String HOW = ": measure it with coordl profile -- java ... your.Program.";

  /**
   * Relative error of CPU time, which is counted in ticks and includes the JIT compiler and the
   * garbage collector.
   */
  private static final double CPU_ERROR = 0.1;

  /** Largest relative deviation from a whole number that is rounded off. */
  private static final double MAX_ROUNDING = 0.03;

  private final JobRecording recording;
  private final HostEvent host;
  private final Differential differential;
  private final Pipeline pipeline = new Pipeline("profile");

  ProfiledPipeline(JobRecording recording) {
    this.recording = recording;
    this.host = Objects.requireNonNullElseGet(recording.host(), HostEvent::new);
    this.differential = Differential.of(recording);
  }

  Pipeline pipeline() {
    pipeline.workers = Objects.requireNonNullElse(differential.workers(), 0L);
    pipeline.frameworks = Objects.requireNonNullElse(differential.frameworks(), "");
    pipeline.cores = host.cores;
    pipeline.cachedNanos = sample("cached").orElse(null);
    pipeline.cachedCpuNanos =
        phase("cached").map(cached -> (double) cached.cpu / cached.samples).orElse(0.0);
    pipeline.memoryBytes = host.memory;
    pipeline.freeMemoryBytes = host.freeMemory;
    pipeline.datasetItems = host.datasetItems;
    pipeline.datasetBytes = host.datasetBytes;
    pipeline.decodedItemBytes = host.decodedItemBytes;
    pipeline.sampleBytes =
        host.datasetItems <= 0
            ? 0
            : (double) host.datasetBytes / host.datasetItems * itemsPerSample();
    pipeline.batchSamples =
        phase("cold")
            .filter(cold -> cold.steps > 0)
            .map(cold -> (double) cold.samples / cold.steps)
            .orElse(0.0);
    List<Timing> alone =
        differential.timings().stream().filter(timing -> timing.phase().equals("prep")).toList();
    Optional<PrepScaling> scaling = PrepScaling.of(alone, host.cores);
    pipeline.computeNanos = needed("computeNanos", sample("ingestion"), "a step alone");
    pipeline.prepNanos = needed("prepNanos", prep(scaling), "preparation from memory");
    pipeline.missNanos =
        needed(
            "missNanos",
            pipeline.isSerial()
                ? difference("cached", "cold").or(() -> fetchTime("cold"))
                : missOnThreads(),
            "fetching from storage");
    pipeline.prepSerialShare = scaling.map(PrepScaling::serialShare).orElse(null);
    if (scaling.isEmpty() || alone.size() < 2) {
      pipeline.assumptions.add(
          "preparation was not measured with several numbers of threads; k threads are assumed to"
              + " be k times as fast as one, up to the number of cores");
    }
    pipeline.storageRate =
        needed("storageRate", rate(host.storageRate, host.storageRateError), "the storage's rate");
    String access = host.storageAccess;
    if (pipeline.storageRate != null && access != null && !access.equals("direct")) {
      pipeline.assumptions.add(
          String.format(
              "storage was not read past the page cache (%s): the measured rate may be that of"
                  + " memory",
              access));
    }
    pipeline.memoryRate = rate(host.memoryRate, 0).orElse(null);
    pipeline.decodeNanos =
        needed(
            "decodeNanos",
            Optional.of(host.decodeNanos * itemsPerSample())
                .filter(nanos -> nanos > 0)
                .map(Measure::exact),
            "the time to decode an item");
    pipeline.todayHit =
        needed("todayHit", todayHit(), "the size of the data set and of the free memory");
    if (pipeline.sampleBytes <= 0) {
      need("sampleBytes", "the size of the data set");
    }
    if (host.cores == 0) {
      need("cores", "the number of cores");
    }
    Measure compute = pipeline.computeNanos;
    Measure prep = pipeline.prepNanos;
    if (compute != null && prep != null) {
      pipeline.computeCores = host.cores == 0 ? null : computeCores(compute, prep);
      check("cached", 1);
      if (pipeline.missNanos != null) {
        check("cold", 0);
      }
    }
    return pipeline;
  }

  private @Nullable Measure needed(String component, Optional<Measure> measure, String what) {
    if (measure.isEmpty()) {
      need(component, what);
    }
    return measure.orElse(null);
  }

  private void need(String component, String what) {
    pipeline.missing.add(new Missing(component, what + " was not measured" + HOW));
  }

  private Optional<PhaseEvent> phase(String name) {
    return recording.phases().stream()
        .filter(phase -> name.equals(phase.phase) && phase.samples > 0)
        .reduce((earlier, later) -> later);
  }

  private Optional<Measure> sample(String phase) {
    return differential.timings().stream()
        .filter(timing -> timing.phase().equals(phase))
        .findFirst()
        .map(timing -> timing.nanos(true));
  }

  private Optional<Measure> difference(String without, String with) {
    return sample(with)
        .flatMap(later -> sample(without).map(earlier -> later.minus(earlier).atLeastZero()));
  }

  private Optional<Measure> prep(Optional<PrepScaling> scaling) {
    Optional<Measure> serial =
        pipeline.isSerial() ? difference("ingestion", "cached") : Optional.empty();
    return serial
        .or(() -> scaling.map(PrepScaling::thread))
        .or(this::prepOnThreads)
        .or(this::prepOfCold);
  }

  /** Returns preparation from the cold phase, the only source for a data set larger than memory. */
  private Optional<Measure> prepOfCold() {
    Optional<Measure> prep =
        phase("cold")
            .filter(cold -> cold.prepTime() > 0)
            .map(cold -> onThreads(cold, cold.prepTime()));
    if (prep.isPresent()) {
      pipeline.assumptions.add(
          "no phase had every item in memory, so the time of preparation is that of the cold phase"
              + " without fetching");
    }
    return prep;
  }

  /**
   * Returns preparation from the threads' times in the cached phase, with the error of that phase.
   */
  private Optional<Measure> prepOnThreads() {
    return phase("cached")
        .filter(cached -> cached.prepTime() > 0)
        .map(cached -> onThreads(cached, cached.prepTime() + cached.fetchTime));
  }

  /**
   * Returns the cost of a miss: the time of one thread that only fetches, which excludes what
   * preparation does anyway. Without that phase, uses the cold phase, in which fetching threads
   * also wait for each other.
   */
  private Optional<Measure> missOnThreads() {
    return differential.timings().stream()
        .filter(timing -> timing.phase().equals("fetch") && Objects.equals(timing.workers(), 1L))
        .findFirst()
        .map(timing -> timing.nanos(true))
        .or(
            () ->
                fetchTime("cold")
                    .map(cold -> fetchTime("cached").map(cold::minus).orElse(cold).atLeastZero()));
  }

  private Optional<Measure> fetchTime(String phase) {
    return phase(phase).filter(one -> one.fetchTime > 0).map(one -> onThreads(one, one.fetchTime));
  }

  private static Measure onThreads(PhaseEvent phase, long nanos) {
    double sample = (double) nanos / phase.samples;
    return new Measure(sample, sample * (phase.sampleNanosError / phase.sampleNanos));
  }

  /**
   * Returns the cores that compute keeps busy, from the CPU time of the phase ingestion if it is
   * known. Otherwise, if compute and preparation together take longer than either alone, they
   * compete for the cores: all cores are busy, and compute uses those that preparation leaves.
   */
  private Measure computeCores(Measure compute, Measure prep) {
    Optional<Measure> seen =
        phase("ingestion").filter(ingestion -> ingestion.cpu > 0).map(this::busyCores);
    if (seen.isPresent()) {
      return seen.get();
    }
    String device = Pipeline.device(recording);
    if (device != null) {
      pipeline.assumptions.add(Pipeline.onDevice(device));
      return Measure.exact(0);
    }
    if (pipeline.isSerial()) {
      pipeline.assumptions.add(
          "the number of cores that a step keeps busy is unknown, because nothing ran beside the"
              + " step: the error covers any number from none (an accelerator) to all"
              + " (give --compute-cores N)");
      return new Measure(host.cores / 2.0, host.cores / 2.0);
    }
    Optional<Measure> cached = sample("cached");
    Measure alone =
        Measure.of(
            values ->
                Math.max(values[0], values[1] * (values[2] + (1 - values[2]) / pipeline.workers)),
            compute,
            prep,
            Objects.requireNonNullElse(pipeline.prepSerialShare, Measure.exact(0)));
    if (cached.isPresent() && cached.get().minus(alone).exceedsItsError()) {
      pipeline.assumptions.add(
          String.format(
              "compute and preparation together take longer than either alone: they compete for the"
                  + " %s cores",
              host.cores));
      return Measure.of(
          values ->
              Math.max(
                  0,
                  Math.min((double) host.cores, (values[0] * host.cores - values[1]) / values[2])),
          cached.get(),
          prep,
          compute);
    }
    pipeline.assumptions.add(
        "a step leaves the cores to preparation, as no competition was seen (--compute-cores"
            + " overrides this)");
    return Measure.exact(0);
  }

  /**
   * Returns the cores that steps keep busy: while prepared batches are replayed, only steps and the
   * JVM itself use CPU time. The measured time of a sample excludes the time in which other
   * programs used the cores.
   */
  private Measure busyCores(PhaseEvent ingestion) {
    double steps = ingestion.samples * ingestion.sampleNanos;
    double busy = Math.min(ingestion.cpu / steps, (double) host.cores);
    return new Measure(busy, busy * CPU_ERROR);
  }

  private static Optional<Measure> rate(long bytesPerSecond, long error) {
    return bytesPerSecond <= 0
        ? Optional.empty()
        : Optional.of(new Measure(bytesPerSecond, Math.max(0, error)));
  }

  /**
   * Returns the mean number of items per sample, rounded to a nearby whole number, because items
   * prepared ahead belong to other batches.
   */
  private double itemsPerSample() {
    double mean =
        phase("cold")
            .filter(cold -> cold.items > 0)
            .map(cold -> (double) cold.items / cold.samples)
            .orElse(1.0);
    double whole = Math.rint(mean);
    return Math.abs(mean - whole) <= MAX_ROUNDING * whole ? whole : mean;
  }

  /**
   * Returns the hit ratio of a page cache in the free memory: between LRU and random replacement.
   */
  private Optional<Measure> todayHit() {
    if (host.datasetBytes <= 0 || host.freeMemory <= 0) {
      return Optional.empty();
    }
    double size = pipeline.memoryShare();
    pipeline.assumptions.add(
        size >= 1
            ? "the free memory holds the data set, so after the first epoch, the page cache answers"
                + " every fetch"
            : "the page cache has the free memory; its hit ratio lies between those of least"
                + " recently used and random replacement");
    return Optional.of(HitLaw.pageCache(size));
  }

  /**
   * Checks the model against a phase in which the share {@code hit} of the items came from memory.
   */
  private void check(String phase, double hit) {
    Measure predicted = pipeline.nanos(pipeline.today().hit(hit));
    sample(phase)
        .ifPresent(measured -> pipeline.checks.add(new Pipeline.Check(phase, measured, predicted)));
  }
}
