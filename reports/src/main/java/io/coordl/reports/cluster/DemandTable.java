package io.coordl.reports.cluster;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The speed of a recorded job by the resources it holds, in the shape of the JSON that {@code
 * coordl demand} writes. All amounts are of the whole job.
 *
 * @param gpus GPUs that it was recorded on, at least 1
 * @param batchSamples samples of a training step
 * @param datasetGib size of its data set
 * @param cores points of the first axis, ascending
 * @param memoryGib points of the second axis, ascending: GiB for items
 * @param storageMbs points of the third axis, ascending: MB/s
 * @param samplesPerSecond by cores, by memory, by storage rate
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
  /** A speed of this share of the best counts as good as the best. */
  public static final double NEARLY = 0.98;

  /**
   * A point of the table.
   *
   * @param share speed as a share of that at the last points of all axes
   */
  public record Knee(double cores, double memoryGib, double storageMbs, double share) {}

  /**
   * Makes a table with its knee. Of the cores and memory that give nearly the best speed with the
   * host's storage, the knee has those with the smallest sum of shares of the largest amounts, and
   * the lowest storage rate that suffices for them.
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
    double least = Double.POSITIVE_INFINITY;
    int ofCores = lastCores;
    int ofMemory = lastMemory;
    for (int i = 0; i <= lastCores; i++) {
      for (int j = 0; j <= lastMemory; j++) {
        double amounts =
            cores.get(i) / cores.get(lastCores) + memoryGib.get(j) / memoryGib.get(lastMemory);
        if (samplesPerSecond.get(i).get(j).get(ownStorage) >= NEARLY * best && amounts < least) {
          least = amounts;
          ofCores = i;
          ofMemory = j;
        }
      }
    }
    List<Double> speeds = samplesPerSecond.get(ofCores).get(ofMemory);
    int ofStorage = 0;
    while (speeds.get(ofStorage) < NEARLY * best) {
      ofStorage++;
    }
    Knee knee =
        new Knee(
            cores.get(ofCores),
            memoryGib.get(ofMemory),
            storageMbs.get(ofStorage),
            speeds.get(ofStorage) / best);
    return new DemandTable(
        gpus, batchSamples, datasetGib, cores, memoryGib, storageMbs, samplesPerSecond, knee);
  }

  /** Samples a second; constant beyond the last points, proportional below the first. */
  double speed(double withCores, double withMemory, double withStorage) {
    double row = Axes.position(cores, withCores);
    double column = Axes.position(memoryGib, withMemory);
    double layer = Axes.position(storageMbs, withStorage);
    double below = Math.min(1, withCores / cores.get(0));
    boolean storageCounts = at(row, column, 0) < NEARLY * at(row, column, storageMbs.size() - 1.0);
    double slow = storageCounts ? Math.min(1, withStorage / storageMbs.get(0)) : 1;
    return below * slow * at(row, column, layer);
  }

  private double at(double row, double column, double layer) {
    return Axes.along(
        samplesPerSecond,
        row,
        table -> Axes.along(table, column, line -> Axes.along(line, layer, speed -> speed)));
  }

  /** The least MB/s with which storage hardly slows the job; 0 if it never does. */
  double storageNeeded(double withCores, double withMemory) {
    double best = speed(withCores, withMemory, Double.MAX_VALUE);
    if (speed(withCores, withMemory, 0) >= NEARLY * best) {
      return 0;
    }
    for (double rate : storageMbs) {
      if (speed(withCores, withMemory, rate) >= NEARLY * best) {
        return rate;
      }
    }
    return storageMbs.get(storageMbs.size() - 1);
  }

  /** Samples a second at the knee. */
  public double ofKnee() {
    return speed(knee.cores(), knee.memoryGib(), knee.storageMbs());
  }

  double best() {
    return at(cores.size() - 1.0, memoryGib.size() - 1.0, storageMbs.size() - 1.0);
  }

  /** A sentence on the defect of a table that was read; null if it has none. */
  @Nullable String problem() {
    if (Stream.<@Nullable Object>of(cores, memoryGib, storageMbs, samplesPerSecond, knee)
        .anyMatch(Objects::isNull)) {
      return "its table has not all of cores, memoryGib, storageMbs, samplesPerSecond and knee";
    }
    if (gpus < 1 || !(batchSamples > 0)) {
      return "gpus is " + gpus + " and batchSamples " + batchSamples + ", not above 0";
    }
    if (!Axes.isRising(cores) || !Axes.isRisingFromZero(memoryGib) || !Axes.isRising(storageMbs)) {
      return "an axis does not rise from above 0: " + cores + ", " + memoryGib + ", " + storageMbs;
    }
    boolean whole =
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
    return whole
        ? null
        : "samplesPerSecond is not a table of %d x %d x %d speeds above 0"
            .formatted(cores.size(), memoryGib.size(), storageMbs.size());
  }
}
