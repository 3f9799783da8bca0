package io.coordl.reports.workers;

import io.coordl.reports.cluster.InputException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Two divisions of a synchronous step's batch: equal shares, and the shares with the shortest step.
 *
 * @param batch total samples of a step
 * @param equalStepMillis step time with equal shares; null if a worker's memory does not hold an
 *     equal share
 * @param idealStepMillis the shortest step if samples could be divided
 * @param straggler the worker that the others wait for if shares are equal; null if there is none
 * @param stragglerCostMillis how much shorter a step would be if the straggler were as fast as the
 *     next worker
 */
public record Shares(
    int batch,
    @Nullable Double equalStepMillis,
    double bestStepMillis,
    double idealStepMillis,
    @Nullable String straggler,
    double stragglerCostMillis,
    List<Share> workers) {
  private static final int HALVINGS = 200;

  /**
   * The share of one worker.
   *
   * @param equalMillis its own step time with an equal share; null if its memory cannot hold that
   *     share
   * @param demandPerSecond samples per second that its host must prepare with the best shares
   * @param demandBytesPerSecond the same in stored bytes; null if the size of a sample is not known
   * @param weight factor of its mean gradient in the mean of all workers
   */
  public record Share(
      Worker worker,
      int equalSamples,
      @Nullable Double equalMillis,
      int bestSamples,
      double bestMillis,
      double demandPerSecond,
      @Nullable Double demandBytesPerSecond,
      double weight) {}

  /**
   * Divides a batch.
   *
   * @param sampleBytes stored bytes of a sample; null if not known
   * @throws InputException if the workers' memory does not hold the batch
   */
  static Shares of(List<Worker> workers, int batch, @Nullable Double sampleBytes)
      throws InputException {
    int[] equal = equal(workers.size(), batch);
    double ideal = ideal(workers, batch);
    int[] best = whole(workers, batch, ideal);
    double bestStep = longest(workers, best);
    boolean fits = true;
    List<Share> shares = new ArrayList<>();
    for (int i = 0; i < workers.size(); i++) {
      Worker worker = workers.get(i);
      boolean holds = worker.holds(equal[i]);
      fits &= holds;
      double demand = 1000.0 * best[i] / bestStep;
      shares.add(
          new Share(
              worker,
              equal[i],
              holds ? (Double) worker.millis(equal[i]) : null,
              best[i],
              worker.millis(best[i]),
              demand,
              sampleBytes == null ? null : (Double) (demand * sampleBytes),
              (double) best[i] / batch));
    }
    double[] times = times(workers, equal);
    int slowest = slowest(times, -1);
    int next = slowest(times, slowest);
    double cost = next < 0 ? 0 : times[slowest] - times[next];
    return new Shares(
        batch,
        fits ? (Double) times[slowest] : null,
        bestStep,
        ideal,
        fits && cost > 0 ? workers.get(slowest).name() : null,
        fits ? cost : 0,
        shares);
  }

  private static int[] equal(int workers, int batch) {
    int[] equal = new int[workers];
    for (int i = 0; i < workers; i++) {
      equal[i] = batch / workers + (i < batch % workers ? 1 : 0);
    }
    return equal;
  }

  private static int slowest(double[] times, int except) {
    int slowest = -1;
    for (int i = 0; i < times.length; i++) {
      if (i != except && (slowest < 0 || times[i] > times[slowest])) {
        slowest = i;
      }
    }
    return slowest;
  }

  /**
   * Returns the step time if samples could be divided: the time in which the workers finish the
   * batch.
   */
  private static double ideal(List<Worker> workers, int batch) throws InputException {
    long capacity = 0;
    for (Worker worker : workers) {
      capacity += worker.most() == null ? batch : worker.most();
    }
    if (capacity < batch) {
      throw new InputException(
          "the workers' memory holds " + capacity + " samples, fewer than the batch of " + batch);
    }
    double high = 1;
    while (samplesWithin(workers, high) < batch) {
      high *= 2;
    }
    double low = 0;
    for (int i = 0; i < HALVINGS && low < high; i++) {
      double middle = (low + high) / 2;
      if (samplesWithin(workers, middle) < batch) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return high;
  }

  private static double samplesWithin(List<Worker> workers, double millis) {
    return workers.stream().mapToDouble(worker -> worker.samples(millis)).sum();
  }

  /**
   * Returns shares in whole samples: rounds ideal shares down, and gives each remaining sample to
   * the worker that would finish it first. No other whole shares give a shorter step, because no
   * worker starts with more than its ideal share.
   */
  private static int[] whole(List<Worker> workers, int batch, double ideal) {
    int[] shares = workers.stream().mapToInt(worker -> (int) worker.samples(ideal)).toArray();
    int remaining = batch;
    for (int share : shares) {
      remaining -= share;
    }
    for (; remaining > 0; remaining--) {
      int first = -1;
      for (int i = 0; i < shares.length; i++) {
        Worker worker = workers.get(i);
        if (worker.holds(shares[i] + 1L)
            && (first < 0
                || worker.millis(shares[i] + 1L) < workers.get(first).millis(shares[first] + 1L))) {
          first = i;
        }
      }
      shares[first]++;
    }
    for (; remaining < 0; remaining++) { // Rounding may make the ideal time too long.
      int last = slowest(times(workers, shares), -1);
      shares[last]--;
    }
    return shares;
  }

  private static double[] times(List<Worker> workers, int[] shares) {
    double[] times = new double[shares.length];
    for (int i = 0; i < times.length; i++) {
      times[i] = workers.get(i).millis(shares[i]);
    }
    return times;
  }

  private static double longest(List<Worker> workers, int[] shares) {
    double longest = 0;
    for (double time : times(workers, shares)) {
      longest = Math.max(longest, time);
    }
    return longest;
  }
}
