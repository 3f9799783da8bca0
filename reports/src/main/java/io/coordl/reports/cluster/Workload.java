package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * An endless workload, whose jobs take as long as on Microsoft's Philly clusters.
 *
 * <ul>
 *   <li>Arrivals are a Poisson process of {@link #load()} jobs an hour, in whole seconds.
 *   <li>Four jobs in five take 10^1.5 to 10^3 minutes at the GPU-proportional share, the fifth 10^3
 *       to 10^4; the exponent is uniform. The mean is 16.8 hours.
 *   <li>The next job belongs to the task that is furthest behind its share of the {@link #split()};
 *       within a task, models take turns.
 * </ul>
 *
 * @param load jobs an hour
 * @param split percent of the jobs per task, adding up to 100
 * @param multiGpu whether three jobs in ten need 2, 4 or 8 GPUs
 */
public record Workload(double load, Map<String, Double> split, boolean multiGpu) {
  private static final double SHORT_JOBS = 0.8;
  private static final double SECONDS_PER_HOUR = 3600;
  private static final int MAX_GPUS = 8;

  /** Parses {@code TASK=PERCENT,...}. */
  public static Map<String, Double> parseSplit(String text) throws InputException {
    Map<String, Double> split = new LinkedHashMap<>();
    double sum = 0;
    for (String part : text.split(",", -1)) {
      String[] pair = part.split("=", 2);
      double percent = pair.length == 2 ? percent(pair[1]) : Double.NaN;
      if (Double.isNaN(percent) || split.put(pair[0].strip(), percent) != null) {
        throw new InputException(
            "the split's '" + part + "' is not TASK=PERCENT, or its task is named twice");
      }
      sum += percent;
    }
    if (Math.abs(sum - 100) > 1e-6) {
      throw new InputException(
          "the split "
              + text
              + " adds up to "
              + SimulationText.number(sum)
              + " percent, not to 100");
    }
    return split;
  }

  private static double percent(String text) {
    try {
      double percent = Double.parseDouble(text.strip());
      return percent >= 0 && percent <= 100 ? percent : Double.NaN;
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  /**
   * Returns the endless sequence of jobs for a seed.
   *
   * @throws InputException if the table has no model of a task, or the cluster has too few GPUs
   */
  Iterator<TraceJob> jobs(ModelTable models, Cluster cluster, long seed) throws InputException {
    if (multiGpu && cluster.gpus() < MAX_GPUS) {
      throw new InputException(
          "--multi-gpu draws jobs of " + MAX_GPUS + " GPUs, but the cluster has " + cluster.gpus());
    }
    Map<String, List<JobModel>> byTask = new LinkedHashMap<>();
    for (String task : split.keySet()) {
      List<JobModel> candidates = models.forWorkloads(task);
      if (candidates.isEmpty()) {
        throw new InputException(
            "the split names the task '" + task + "', which no model of the table has");
      }
      byTask.put(task, candidates);
    }
    return new Jobs(new Random(seed), new ArrayList<>(byTask.values()));
  }

  private final class Jobs implements Iterator<TraceJob> {
    private final Random random;
    private final List<List<JobModel>> models;
    private final double[] shares = split.values().stream().mapToDouble(p -> p / 100).toArray();
    private final int[] arrived = new int[shares.length];
    private double now;
    private long id;

    Jobs(Random random, List<List<JobModel>> models) {
      this.random = random;
      this.models = models;
    }

    @Override
    public boolean hasNext() {
      return true;
    }

    @Override
    public TraceJob next() {
      now += Math.ceil(-Math.log(1 - random.nextDouble()) / load * SECONDS_PER_HOUR);
      double seconds = duration();
      JobModel model = model();
      long iterations = Math.max(1, (long) (seconds / model.iterationSeconds()));
      return new TraceJob(id++, model.name(), now, iterations, multiGpu ? gpus() : 1);
    }

    private double duration() {
      double exponent = random.nextDouble() < SHORT_JOBS ? between(1.5, 3) : between(3, 4);
      return 60 * Math.pow(10, exponent);
    }

    private double between(double low, double high) {
      return low + random.nextDouble() * (high - low);
    }

    private JobModel model() {
      int behind = 0;
      double furthest = Double.NEGATIVE_INFINITY;
      for (int task = 0; task < shares.length; task++) {
        double gap = shares[task] - (id == 0 ? 0 : (double) arrived[task] / id);
        if (gap > furthest) {
          furthest = gap;
          behind = task;
        }
      }
      List<JobModel> turns = models.get(behind);
      return turns.get(arrived[behind]++ % turns.size());
    }

    private int gpus() {
      double drawn = random.nextDouble();
      return drawn >= 0.95 ? MAX_GPUS : drawn >= 0.8 ? 4 : drawn >= 0.7 ? 2 : 1;
    }
  }
}
