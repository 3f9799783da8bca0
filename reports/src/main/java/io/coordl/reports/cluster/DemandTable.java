package io.coordl.reports.cluster;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Speed of a recorded job by the resources it holds. Serialised to the JSON that {@code coordl
 * demand} writes. All amounts are for the whole job.
 *
 * @param gpus GPUs of the recorded run, at least 1
 * @param batchSamples samples of a training step
 * @param datasetGib size of its data set
 * @param cores points of the first axis, ascending
 * @param memoryGib points of the second axis, ascending: GiB of cache
 * @param storageMbs points of the third axis, ascending: MB/s
 * @param samplesPerSecond speeds, indexed by cores, then memory, then storage rate
 * @param knee the smallest amounts that are nearly as good as the largest
 */
public record DemandTable(
    int gpus,
    double batchSamples,
    double datasetGib,
    List<Double> cores,
    List<Double> memoryGib,
    List<Double> storageMbs,
    List<List<List<Double>>> samplesPerSecond,
    Knee knee) {
  /** A speed of at least this share of the best is treated as the best. */
  public static final double NEARLY_BEST_SHARE = 0.98;

  /**
   * The point of the table with the smallest amounts that give nearly the best speed.
   *
   * @param share speed as a share of the speed with the most cores and memory, on the host's own
   *     storage
   */
  public record Knee(double cores, double memoryGib, double storageMbs, double share) {}

  /**
   * Creates a table with its knee. Among the points with nearly the best speed on the host's
   * storage, the knee has the smallest sum of cores and memory, each relative to its largest
   * amount. Its storage rate is the lowest that suffices.
   *
   * @param ownStorage index of the host's own storage on its axis; the knee does not lie beyond it
   */
  public static DemandTable of(
      int gpus,
      double batchSamples,
      double datasetGib,
      List<Double> cores,
      List<Double> memoryGib,
      List<Double> storageMbs,
      List<List<List<Double>>> samplesPerSecond,
      int ownStorage) {
    int lastCores = cores.size() - 1;
    int lastMemory = memoryGib.size() - 1;
    double best = samplesPerSecond.get(lastCores).get(lastMemory).get(ownStorage);
    double smallest = Double.POSITIVE_INFINITY;
    int bestCores = lastCores;
    int bestMemory = lastMemory;
    for (int i = 0; i <= lastCores; i++) {
      for (int j = 0; j <= lastMemory; j++) {
        double amounts =
            cores.get(i) / cores.get(lastCores) + memoryGib.get(j) / memoryGib.get(lastMemory);
        if (samplesPerSecond.get(i).get(j).get(ownStorage) >= NEARLY_BEST_SHARE * best
            && amounts < smallest) {
          smallest = amounts;
          bestCores = i;
          bestMemory = j;
        }
      }
    }
    List<Double> speeds = samplesPerSecond.get(bestCores).get(bestMemory);
    int bestStorage = 0;
    while (speeds.get(bestStorage) < NEARLY_BEST_SHARE * best) {
      bestStorage++;
    }
    Knee knee =
        new Knee(
            cores.get(bestCores),
            memoryGib.get(bestMemory),
            storageMbs.get(bestStorage),
            speeds.get(bestStorage) / best);
    return new DemandTable(
        gpus, batchSamples, datasetGib, cores, memoryGib, storageMbs, samplesPerSecond, knee);
  }

  /**
   * Returns samples per second. Beyond the last points, the speed is constant. Below the first
   * number of cores it is proportional to the cores; below the first storage rate, to the rate, if
   * storage limits the job.
   */
  double speed(double withCores, double withMemory, double withStorage) {
    double row = Axes.position(cores, withCores);
    double column = Axes.position(memoryGib, withMemory);
    double layer = Axes.position(storageMbs, withStorage);
    double below = Math.min(1, withCores / cores.get(0));
    boolean storageCounts =
        at(row, column, 0) < NEARLY_BEST_SHARE * at(row, column, storageMbs.size() - 1.0);
    double slow = storageCounts ? Math.min(1, withStorage / storageMbs.get(0)) : 1;
    return below * slow * at(row, column, layer);
  }

  private double at(double row, double column, double layer) {
    return Axes.along(
        samplesPerSecond,
        row,
        table -> Axes.along(table, column, line -> Axes.along(line, layer, speed -> speed)));
  }

  /**
   * Returns the lowest storage rate on the axis, in MB/s, that hardly slows the job; 0 if no rate
   * slows it.
   */
  double storageNeeded(double withCores, double withMemory) {
    double best = speed(withCores, withMemory, Double.MAX_VALUE);
    if (speed(withCores, withMemory, 0) >= NEARLY_BEST_SHARE * best) {
      return 0;
    }
    for (double rate : storageMbs) {
      if (speed(withCores, withMemory, rate) >= NEARLY_BEST_SHARE * best) {
        return rate;
      }
    }
    return storageMbs.get(storageMbs.size() - 1);
  }

  /** Returns samples per second at the knee. */
  public double kneeSpeed() {
    return speed(knee.cores(), knee.memoryGib(), knee.storageMbs());
  }

  double best() {
    return at(cores.size() - 1.0, memoryGib.size() - 1.0, storageMbs.size() - 1.0);
  }

  /** Returns the problem with a table read from a file, as a sentence; null if it is valid. */
  @Nullable String problem() {
    if (Stream.<@Nullable Object>of(cores, memoryGib, storageMbs, samplesPerSecond, knee)
        .anyMatch(Objects::isNull)) {
      return "its table lacks one of cores, memoryGib, storageMbs, samplesPerSecond and knee";
    }
    if (gpus < 1 || !(batchSamples > 0)) {
      return "gpus is " + gpus + " and batchSamples is " + batchSamples + ", expected above 0";
    }
    if (!Axes.isRising(cores) || !Axes.isRisingFromZero(memoryGib) || !Axes.isRising(storageMbs)) {
      return "an axis does not rise from a value above 0 (memoryGib: from 0 or more): "
          + cores
          + ", "
          + memoryGib
          + ", "
          + storageMbs;
    }
    boolean complete =
        samplesPerSecond.size() == cores.size()
            && samplesPerSecond.stream()
                .allMatch(
                    table ->
                        table != null
                            && table.size() == memoryGib.size()
                            && table.stream()
                                .allMatch(
                                    line ->
                                        line != null
                                            && line.size() == storageMbs.size()
                                            && line.stream()
                                                .allMatch(speed -> speed != null && speed > 0)));
    return complete
        ? null
        : "samplesPerSecond is not a table of %d x %d x %d speeds above 0"
            .formatted(cores.size(), memoryGib.size(), storageMbs.size());
  }
}
