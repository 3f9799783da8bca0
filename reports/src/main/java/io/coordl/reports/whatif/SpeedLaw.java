package io.coordl.reports.whatif;

import io.coordl.reports.cluster.DemandTable;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.recording.JobRecording;
import io.coordl.telemetry.advice.Text;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Predicts the speed of a recorded job with other amounts of cores, memory for items and storage
 * rate.
 *
 * <p>The effect of cores follows from the costs of a sample. If there are profiles of the job, the
 * law is scaled to the speeds that they measured with every item in memory; between their numbers
 * of cores, the scale is interpolated. The effect of memory and storage follows from the law of a
 * MinIO cache: memory holds the same share of the items in every epoch, and storage supplies the
 * rest.
 */
public final class SpeedLaw {
  private static final double[] STORAGE_FACTORS = {0.0625, 0.125, 0.25, 0.5, 0.75, 1, 2, 4};
  private static final double[] SHARES = Series.steps(0, 1, 0.1);

  /**
   * Numbers of cores in a table, including fractions such as quotas of containers and shares of
   * small clusters.
   */
  private static final double[] CORES = {
    0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64
  };

  private static final double MIN_ERROR = 1e-3;
  private static final double GIB = 1L << 30;
  private static final double MB = 1e6;

  /**
   * The speed measured with this many cores and every item in memory.
   *
   * @param samplesPerSecond samples a second of the cached phase
   */
  public record Measured(long cores, Measure samplesPerSecond) {}

  final Pipeline pipeline;
  private final List<Measured> measured;

  /** Measured time of a sample divided by the predicted time, by number of cores. */
  private final TreeMap<Double, Double> scale = new TreeMap<>();

  /** Whether whole numbers of cores are quotas, too, rather than sets of CPUs. */
  private final boolean quota;

  private SpeedLaw(Pipeline pipeline, List<Measured> measured, boolean quota) {
    this.pipeline = pipeline;
    this.quota = quota;
    this.measured = measured;
    double[] speeds = rising(measured);
    for (int i = 0; i < speeds.length; i++) {
      double cores = measured.get(i).cores();
      scale.put(cores, 1e9 / speeds[i] / nanos(today().cores(cores).hit(1)));
    }
  }

  /**
   * Returns the speeds by cores, in non-decreasing order: if measurement errors make a speed lower
   * than that on fewer cores, both get their mean, weighted by the inverse squares of their errors.
   */
  private static double[] rising(List<Measured> measured) {
    double[] speeds = new double[measured.size()];
    double[] weights = new double[speeds.length];
    for (int last = 0; last < speeds.length; last++) {
      Measure speed = measured.get(last).samplesPerSecond();
      double error = Math.max(speed.error(), MIN_ERROR * speed.value());
      speeds[last] = speed.value();
      weights[last] = 1 / (error * error);
      double sum = weights[last];
      for (int first = last; first > 0 && speeds[first - 1] > speeds[first]; first--) {
        double mean =
            (sum * speeds[first] + weights[first - 1] * speeds[first - 1])
                / (sum + weights[first - 1]);
        sum += weights[first - 1];
        Arrays.fill(speeds, first - 1, last + 1, mean);
      }
    }
    return speeds;
  }

  /**
   * Makes the law of one job.
   *
   * @param recordings one ordinary recording, or profiles, each on a different number of cores
   * @param computeCores cores that a step keeps busy, if the user specifies it
   * @param quota whether a number of cores is a quota, as in a container, rather than a set of CPUs
   */
  public static SpeedLaw of(
      List<JobRecording> recordings, @Nullable Double computeCores, boolean quota) {
    List<Pipeline> pipelines = recordings.stream().map(Pipeline::of).toList();
    List<Measured> measured = new ArrayList<>();
    for (Pipeline each : pipelines) {
      if (each.cachedNanos != null && each.cores > 0) {
        measured.add(new Measured(each.cores, each.cachedNanos.perSecond()));
      }
    }
    measured.sort(Comparator.comparingLong(Measured::cores));
    Pipeline most =
        pipelines.stream().max(Comparator.comparingLong(each -> each.cores)).orElseThrow();
    return new SpeedLaw(most.withComputeCores(computeCores), measured, quota);
  }

  static SpeedLaw of(Pipeline pipeline) {
    return new SpeedLaw(pipeline, List.of(), false);
  }

  public List<Measured> measured() {
    return measured;
  }

  public String origin() {
    return pipeline.origin;
  }

  public long workers() {
    return pipeline.workers;
  }

  /** Returns the cores that a step keeps busy; null if not known. */
  public @Nullable Measure stepCores() {
    return pipeline.computeCores;
  }

  public List<String> assumptions() {
    return pipeline.assumptions;
  }

  /** Returns the missing measurements without which no table can be made. */
  public List<Missing> missing() {
    List<Missing> missing = pipeline.missing("computeNanos", "prepNanos", "sampleBytes");
    if (missing.isEmpty() && (pipeline.cores == 0 || pipeline.computeCores == null)) {
      missing = pipeline.missing("cores");
    }
    return missing;
  }

  /** Returns the missing measurements without which the table lacks an axis. */
  public List<Missing> missingAxes() {
    return pipeline.missing("missNanos", "storageRate", "datasetBytes");
  }

  private Setup today() {
    return pipeline.today();
  }

  private double nanos(Setup setup) {
    return pipeline.nanos(setup).value();
  }

  /**
   * Returns samples a second.
   *
   * @param hit share of the items that memory holds
   * @param storage factor on the measured storage rate
   */
  double speed(double cores, double hit, double storage) {
    Setup setup = today().cores(cores).hit(hit).storage(storage);
    if (!isQuota(cores) || pipeline.isSerial() || pipeline.cachedCpuNanos <= 0) {
      return 1e9 / nanos(setup.work(scale(cores)));
    }
    // Under a quota, threads run side by side on all cores for part of the time; during that time,
    // they slow each other down as much as without a quota.
    Setup all = setup.work(scale((double) pipeline.cores));
    return 1e9 / nanos(all.cpu(pipeline.cachedCpuNanos));
  }

  private boolean isQuota(double cores) {
    return cores < pipeline.cores && (quota || cores != Math.rint(cores));
  }

  /** Returns the scale, linear between measured numbers of cores and constant beyond them. */
  private double scale(double cores) {
    var below = scale.floorEntry(cores);
    var above = scale.ceilingEntry(cores);
    if (below == null || above == null) {
      return below != null ? below.getValue() : above != null ? above.getValue() : 1;
    }
    double distance = above.getKey() - below.getKey();
    double part = distance == 0 ? 0 : (cores - below.getKey()) / distance;
    return below.getValue() + part * (above.getValue() - below.getValue());
  }

  /**
   * Returns the table; call only if nothing is {@link #missing()}.
   *
   * @param gpus number of GPUs on which the job was recorded
   */
  public DemandTable table(int gpus) {
    double[] cores = cores();
    double dataset = pipeline.datasetBytes / GIB;
    double[] shares = pipeline.missNanos == null || dataset <= 0 ? new double[] {1} : SHARES;
    Measure rate = pipeline.storageRate;
    double[] storage = rate == null || shares.length == 1 ? new double[] {1} : STORAGE_FACTORS;
    double unit = rate == null ? 1 : rate.value() / MB;
    List<List<List<Double>>> speeds = new ArrayList<>();
    // The table assumes that more cores never slow a job.
    double[][] best = new double[shares.length][storage.length];
    for (double coreCount : cores) {
      List<List<Double>> table = new ArrayList<>();
      for (int i = 0; i < shares.length; i++) {
        for (int j = 0; j < storage.length; j++) {
          best[i][j] = Math.max(best[i][j], speed(coreCount, shares[i], storage[j]));
        }
        table.add(Arrays.stream(best[i]).boxed().toList());
      }
      speeds.add(table);
    }
    // The table includes faster storage than the host has, but the knee must be within the host's
    // rate.
    int own = Arrays.binarySearch(storage, 1);
    return DemandTable.of(
        gpus,
        Math.max(1, pipeline.batchSamples),
        dataset,
        axis(cores, 1),
        axis(shares, dataset <= 0 ? 1 : dataset),
        axis(storage, unit),
        speeds,
        own);
  }

  private static List<Double> axis(double[] points, double unit) {
    return Arrays.stream(points).map(point -> point * unit).boxed().toList();
  }

  /** Returns numbers of cores up to the host's, including the measured ones. */
  private double[] cores() {
    TreeSet<Double> points = new TreeSet<>();
    for (double cores : CORES) {
      points.add(cores);
    }
    points.removeIf(cores -> cores > pipeline.cores);
    points.add((double) pipeline.cores);
    measured.forEach(point -> points.add((double) point.cores()));
    return points.stream().mapToDouble(Double::doubleValue).toArray();
  }

  /** Returns the knee of a table in words. */
  public static String sentence(DemandTable table) {
    DemandTable.Knee knee = table.knee();
    double most = table.cores().get(table.cores().size() - 1);
    boolean memory = table.memoryGib().size() > 1;
    double all = table.memoryGib().get(table.memoryGib().size() - 1);
    boolean storage = table.storageMbs().size() > 1 && knee.memoryGib() < all;
    return Text.format(
        "%s%s%s give %.0f %% of the speed of %s%s (%s samples/s).",
        count(knee.cores()),
        memory ? (storage ? ", " : " and ") + bytes(knee.memoryGib() * GIB) + " for items" : "",
        storage ? " and " + bytes(knee.storageMbs() * MB) + "/s from storage" : "",
        100 * knee.share(),
        count(most),
        memory ? " with every item in memory" : "",
        speed(table.kneeSpeed() / knee.share()));
  }

  private static String speed(double samplesPerSecond) {
    return Text.format(samplesPerSecond >= 100 ? "%,.0f" : "%.3g", samplesPerSecond);
  }

  private static String bytes(double bytes) {
    return Question.bytes(bytes);
  }

  private static String count(double cores) {
    return cores == Math.rint(cores)
        ? Text.count(Math.round(cores), "core", "cores")
        : Text.format("%s %s", Double.toString(cores), cores < 1 ? "of a core" : "cores");
  }
}
