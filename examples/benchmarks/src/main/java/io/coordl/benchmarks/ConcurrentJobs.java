package io.coordl.benchmarks;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * Jobs that ran at the same time; rates are measured from the time that all have warmed up until
 * the first ends. Immutable.
 *
 * @param results in the order of the jobs
 * @param epochEnds {@link System#nanoTime} at the end of each epoch of each job
 * @param cpu CPU time of each job at these times
 */
record ConcurrentJobs(List<ChildResult> results, List<List<Long>> epochEnds, List<EpochCpu> cpu) {
  /** Like the overload below, but shows no output while the jobs run. */
  static ConcurrentJobs run(String what, List<ChildJvm> jobs)
      throws IOException, InterruptedException {
    return run(what, jobs, line -> {});
  }

  /**
   * Starts all jobs at the same time and waits until they end; passes each line of output to {@code
   * echo} immediately, from several threads.
   *
   * @throws IllegalStateException if one of them fails
   */
  static ConcurrentJobs run(String what, List<ChildJvm> jobs, Consumer<String> echo)
      throws IOException, InterruptedException {
    List<List<Long>> ends = new ArrayList<>();
    List<EpochCpu> cpu = new ArrayList<>();
    List<Future<ChildResult>> running = new ArrayList<>();
    ExecutorService pool = Executors.newFixedThreadPool(jobs.size());
    try {
      for (ChildJvm job : jobs) {
        List<Long> own = new CopyOnWriteArrayList<>();
        ends.add(own);
        EpochCpu used = new EpochCpu();
        cpu.add(used);
        job.started(used::below);
        job.echo(
            line -> {
              echo.accept(line);
              if (line.startsWith("epoch ")) {
                own.add(System.nanoTime());
                used.accept(line);
              }
            });
        Callable<ChildResult> run = job::run;
        running.add(pool.submit(run));
      }
      List<ChildResult> results = new ArrayList<>();
      for (Future<ChildResult> job : running) {
        results.add(job.get().orFail("One of " + jobs.size() + " jobs, " + what + ","));
      }
      return new ConcurrentJobs(results, ends, cpu);
    } catch (ExecutionException e) {
      throw new IOException("A job could not be run: " + what, e.getCause());
    } finally {
      // An interrupt kills a job.
      pool.shutdownNow();
    }
  }

  /**
   * Returns the epochs per second of all jobs together, counting partial epochs, after every job
   * has finished {@code warmUp} epochs and before any has ended.
   */
  double epochsPerSecond(int warmUp) {
    long from = Long.MIN_VALUE;
    long to = Long.MAX_VALUE;
    for (List<Long> ends : epochEnds) {
      from = Math.max(from, ends.get(warmUp - 1));
      to = Math.min(to, ends.get(ends.size() - 1));
    }
    if (from >= to) {
      throw new IllegalStateException(
          "One job ended before another had done " + warmUp + " epochs; give them more epochs.");
    }
    double epochs = 0;
    for (List<Long> ends : epochEnds) {
      epochs += done(ends, to) - done(ends, from);
    }
    return epochs / ((to - from) / 1e9);
  }

  /**
   * Returns the mean CPU seconds that an epoch takes in all jobs together, over the epochs after
   * {@code from} up to {@code to}, without JIT compilers.
   */
  double cpuPerEpoch(int from, int to) {
    return cpu.stream().mapToDouble(job -> job.seconds(from, to)).sum() / (to - from);
  }

  /**
   * Returns the epochs done at {@code time}, which is between the first and last end of an epoch.
   */
  private static double done(List<Long> ends, long time) {
    int epoch = 1;
    while (ends.get(epoch) < time) {
      epoch++;
    }
    long begin = ends.get(epoch - 1);
    return epoch + (time - begin) / (double) (ends.get(epoch) - begin);
  }
}
