package io.coordl.reports.whatif;

import io.coordl.event.HostEvent;
import io.coordl.event.PhaseEvent;
import io.coordl.reports.differential.Differential;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.differential.Timing;
import io.coordl.reports.recording.JobRecording;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Makes a {@link Pipeline} of the phases of a profile. Without workers the differences between the
 * phases are the times of the stages; with workers the stages alone are, and what their threads
 * took.
 */
final class ProfiledPipeline {
  private static final String HOW = ": measure it with coordl profile -- java ... your.Program";

  /** Of CPU time, which is counted in ticks and has what compilers and collectors did in it. */
  private static final double CPU_ERROR = 0.1;

  private static final double NEARLY = 0.03;

  private final JobRecording recording;
  private final @Nullable HostEvent host;
  private final Differential differential;
  private final long workers;
  private final long cores;
  private final List<String> assumptions = new ArrayList<>();
  private final List<Missing> missing = new ArrayList<>();

  ProfiledPipeline(JobRecording recording) {
    this.recording = recording;
    this.host = recording.host();
    this.differential = Differential.of(recording);
    this.workers = differential.workers() == null ? 0 : differential.workers();
    this.cores = host == null ? 0 : host.cores;
  }

  Pipeline pipeline() {
    Optional<PrepLaw> law = PrepLaw.of(alone(), cores);
    @Nullable Measure compute = needed("computeNanos", sample("ingestion"), "a step alone");
    @Nullable Measure prep = needed("prepNanos", prep(law), "preparation from memory");
    @Nullable Measure miss =
        needed(
            "missNanos",
            workers == 0
                ? difference("cached", "cold").or(() -> fetchTime("cold"))
                : missOnThreads(),
            "fetching from storage");
    @Nullable Measure share = law.map(PrepLaw::serialShare).orElse(null);
    if (law.isEmpty() || alone().size() < 2) {
      assumptions.add(
          "preparation was not measured with several numbers of threads: k threads are taken to be"
              + " k times as fast as one, up to the number of cores");
    }
    @Nullable Measure storage =
        needed(
            "storageRate",
            rate(host == null ? 0 : host.storageRate, storageError()),
            "the storage's rate");
    String access = host == null ? null : host.storageAccess;
    if (storage != null && access != null && !access.equals("direct")) {
      assumptions.add(
          "storage was not read past the page cache ("
              + access
              + "): what it gives may be what memory gives");
    }
    @Nullable Measure memory = rate(host == null ? 0 : host.memoryRate, 0).orElse(null);
    @Nullable Measure decode = needed("decodeNanos", decode(), "the time to decode an item");
    @Nullable Measure hit =
        needed("todayHit", todayHit(), "the size of the data set and of the free memory");
    if (sampleBytes() <= 0) {
      need("sampleBytes", "the size of the data set");
    }
    if (cores == 0) {
      need("cores", "the number of cores");
    }
    Pipeline known =
        pipeline(
            compute,
            computeCores(compute, prep, share),
            prep,
            share,
            miss,
            storage,
            memory,
            decode,
            hit,
            List.of());
    return pipeline(
        compute,
        known.computeCores(),
        prep,
        share,
        miss,
        storage,
        memory,
        decode,
        hit,
        checks(known));
  }

  private Pipeline pipeline(
      @Nullable Measure compute,
      @Nullable Measure computeCores,
      @Nullable Measure prep,
      @Nullable Measure share,
      @Nullable Measure miss,
      @Nullable Measure storage,
      @Nullable Measure memory,
      @Nullable Measure decode,
      @Nullable Measure hit,
      List<Pipeline.Check> checks) {
    return new Pipeline(
        "profile",
        workers,
        compute,
        computeCores,
        prep,
        share,
        miss,
        storage,
        memory,
        decode,
        hit,
        sampleBytes(),
        batchSamples(),
        null,
        host == null ? 0 : host.datasetItems,
        host == null ? 0 : host.datasetBytes,
        host == null ? 0 : host.decodedItemBytes,
        cores,
        host == null ? 0 : host.memory,
        host == null ? 0 : host.freeMemory,
        Objects.requireNonNullElse(differential.frameworks(), ""),
        List.copyOf(assumptions),
        checks,
        List.copyOf(missing));
  }

  private @Nullable Measure needed(String component, Optional<Measure> measure, String what) {
    if (measure.isEmpty()) {
      need(component, what);
    }
    return measure.orElse(null);
  }

  private void need(String component, String what) {
    missing.add(new Missing(component, what + " was not measured" + HOW + "."));
  }

  private Optional<Timing> timing(String phase) {
    return differential.timings().stream()
        .filter(timing -> timing.phase().equals(phase))
        .findFirst();
  }

  private List<Timing> alone() {
    return differential.timings().stream().filter(timing -> timing.phase().equals("prep")).toList();
  }

  private Optional<PhaseEvent> phase(String name) {
    return recording.phases().stream()
        .filter(phase -> name.equals(phase.phase) && phase.samples > 0)
        .reduce((earlier, later) -> later);
  }

  private Optional<Measure> sample(String phase) {
    return timing(phase).map(ProfiledPipeline::sample);
  }

  private static Measure sample(Timing timing) {
    Double samples = timing.samplesPerBatch();
    return timing.batchNanos().times(1 / (samples == null ? 1 : samples));
  }

  private Optional<Measure> difference(String without, String with) {
    return sample(with)
        .flatMap(later -> sample(without).map(earlier -> later.minus(earlier).atLeastZero()));
  }

  private Optional<Measure> prep(Optional<PrepLaw> law) {
    Optional<Measure> serial = workers == 0 ? difference("ingestion", "cached") : Optional.empty();
    return serial.or(() -> law.map(PrepLaw::thread)).or(this::prepOnThreads).or(this::prepOfCold);
  }

  /** All that can be known of a data set that is larger than memory. */
  private Optional<Measure> prepOfCold() {
    Optional<Measure> prep =
        phase("cold").filter(cold -> cold.prepTime > 0).map(cold -> onThreads(cold, cold.prepTime));
    if (prep.isPresent()) {
      assumptions.add(
          "no phase had every item in memory: preparation is what the phase cold took beside"
              + " fetching");
    }
    return prep;
  }

  /** What the threads of the cached phase took, as uncertain as that phase. */
  private Optional<Measure> prepOnThreads() {
    return phase("cached")
        .filter(cached -> cached.prepTime > 0)
        .map(cached -> onThreads(cached, cached.prepTime + cached.fetchTime));
  }

  /**
   * By one thread alone, whose reads leave out what preparation does anyway. In the cold phase
   * threads also wait for each other, which becomes less as fewer fetch.
   */
  private Optional<Measure> missOnThreads() {
    Optional<Measure> alone =
        differential.timings().stream()
            .filter(timing -> timing.phase().equals("fetch") && isByOne(timing))
            .map(ProfiledPipeline::sample)
            .findFirst();
    return alone.isPresent() ? alone : fetchTime("cold").map(this::lessThanCached);
  }

  private static boolean isByOne(Timing timing) {
    return timing.workers() != null && timing.workers() == 1;
  }

  private Measure lessThanCached(Measure cold) {
    return fetchTime("cached").map(cold::minus).orElse(cold).atLeastZero();
  }

  private Optional<Measure> fetchTime(String phase) {
    return phase(phase).filter(one -> one.fetchTime > 0).map(one -> onThreads(one, one.fetchTime));
  }

  private static Measure onThreads(PhaseEvent phase, long nanos) {
    double sample = (double) nanos / phase.samples;
    return new Measure(sample, sample * (phase.sampleNanosError / phase.sampleNanos));
  }

  /**
   * Where preparing takes longer beside compute than both explain, they compete for the cores: then
   * all cores are busy, and what preparation leaves is what compute takes.
   */
  private @Nullable Measure computeCores(
      @Nullable Measure compute, @Nullable Measure prep, @Nullable Measure share) {
    if (cores == 0 || compute == null || prep == null) {
      return null;
    }
    Optional<Measure> seen = phase("ingestion").filter(of -> of.cpu > 0).map(this::busyCores);
    if (seen.isPresent()) {
      return seen.get();
    }
    if (workers == 0) {
      assumptions.add(
          "whether a step keeps this host's cores busy was not seen, as nothing ran beside it:"
              + " anything from none (an accelerator) to all is within the error"
              + " (--compute-cores says it)");
      return new Measure(cores / 2.0, cores / 2.0);
    }
    Optional<Measure> cached = sample("cached");
    Measure alone =
        Measure.of(
            of -> Math.max(of[0], of[1] * (of[2] + (1 - of[2]) / workers)),
            compute,
            prep,
            share == null ? Measure.exact(0) : share);
    if (cached.isPresent() && cached.get().minus(alone).exceedsItsError()) {
      assumptions.add(
          "compute and preparation together take longer than either alone: they compete for the "
              + cores
              + " cores");
      return Measure.of(
          of -> Math.max(0, Math.min((double) cores, (of[0] * cores - of[1]) / of[2])),
          cached.get(),
          prep,
          compute);
    }
    assumptions.add(
        "a step leaves the cores to preparation, as no competition was seen (--compute-cores says"
            + " otherwise)");
    return Measure.exact(0);
  }

  /** With prepared batches replayed, nothing but steps takes CPU time, and what the JVM does. */
  private Measure busyCores(PhaseEvent ingestion) {
    double busy = Math.min((double) ingestion.cpu / ingestion.wall, (double) cores);
    return new Measure(busy, busy * CPU_ERROR);
  }

  private static Optional<Measure> rate(long bytesPerSecond, long error) {
    return bytesPerSecond <= 0
        ? Optional.empty()
        : Optional.of(new Measure(bytesPerSecond, Math.max(0, error)));
  }

  private long storageError() {
    return host == null ? 0 : host.storageRateError;
  }

  private Optional<Measure> decode() {
    return host == null || host.decodeNanos <= 0
        ? Optional.empty()
        : Optional.of(Measure.exact(host.decodeNanos * itemsPerSample()));
  }

  /** Nearly a whole number is one: what is prepared ahead belongs to other batches. */
  private double itemsPerSample() {
    double mean =
        phase("cold")
            .filter(cold -> cold.items > 0)
            .map(cold -> (double) cold.items / cold.samples)
            .orElse(1.0);
    double whole = Math.rint(mean);
    return Math.abs(mean - whole) <= NEARLY * whole ? whole : mean;
  }

  private double batchSamples() {
    return phase("cold")
        .filter(cold -> cold.steps > 0)
        .map(cold -> (double) cold.samples / cold.steps)
        .orElse(0.0);
  }

  private double sampleBytes() {
    return host == null || host.datasetItems <= 0
        ? 0
        : (double) host.datasetBytes / host.datasetItems * itemsPerSample();
  }

  /** What a page cache of the free memory hits: between least recently used and any replaced. */
  private Optional<Measure> todayHit() {
    if (host == null || host.datasetBytes <= 0 || host.freeMemory <= 0) {
      return Optional.empty();
    }
    double size = Math.min(1, (double) host.freeMemory / host.datasetBytes);
    assumptions.add(
        size >= 1
            ? "the free memory holds the data set, so from the second epoch on the page cache"
                + " answers every fetch"
            : "the page cache has the free memory, and answers what lies between least recently"
                + " used and random replacement");
    return Optional.of(Cache.pageCacheHit(size));
  }

  private List<Pipeline.Check> checks(Pipeline pipeline) {
    if (pipeline.computeNanos() == null || pipeline.prepNanos() == null) {
      return List.of();
    }
    List<Pipeline.Check> checks = new ArrayList<>();
    sample("cached")
        .ifPresent(
            cached ->
                checks.add(
                    new Pipeline.Check("cached", cached, pipeline.nanos(pipeline.today().hit(1)))));
    if (pipeline.missNanos() != null) {
      sample("cold")
          .ifPresent(
              cold ->
                  checks.add(
                      new Pipeline.Check("cold", cold, pipeline.nanos(pipeline.today().hit(0)))));
    }
    return List.copyOf(checks);
  }
}
