package io.coordl.reports.cluster;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How fast a recorded job trains with what it holds, in the shape of its JSON: {@code coordl
 * demand} writes it. All amounts are of the whole job.
 *
 * @param gpus that it was recorded on, at least 1
 * @param batchSamples samples of a training step
 * @param datasetGib size of its data set
 * @param cores points of the first axis, rising
 * @param memoryGib points of the second axis, rising: GiB for items
 * @param storageMbs points of the third axis, rising: MB/s
 * @param samplesPerSecond by cores, by memory, by storage rate
 * @param knee the least that is nearly as good as all
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
  /** Speeds of this share of the best are as good. */
  public static final double NEARLY = 0.98;

  /**
   * A point of the table.
   *
   * @param share of the speed that the last points of all axes give
   */
  public record Knee(double cores, double memoryGib, double storageMbs, double share) {}

  /**
   * A table with its knee: of the cores and memory that give nearly all with the host's storage,
   * those with the smallest sum of shares of the largest amounts; and the least storage rate that
   * is enough for them.
   *
   * @param ownStorage the place of the host's own storage on its axis, beyond which no knee lies
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

  /** Samples a second; constant beyond the last points, below the first in proportion. */
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

  /** A sentence on what is wrong with a table that was read; null if nothing is. */
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
        : "samplesPerSecond is no table of %d x %d x %d speeds above 0"
            .formatted(cores.size(), memoryGib.size(), storageMbs.size());
  }
}
