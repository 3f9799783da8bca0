package io.coordl.tuning;

import io.coordl.telemetry.event.JobStatisticsEvent;
import java.util.ArrayList;
import java.util.List;

/** Simulates jobs under {@code auto}, a second at a time, and returns what {@code auto} reports. */
public final class SimulatedJob {
  private static final long SECOND = 1_000_000_000L;

  private final JobStatisticsEvent totals = new JobStatisticsEvent();
  private final List<String> events = new ArrayList<>();
  private final Tuner tuner;
  private long now;
  private long prefetched;
  private long hits = 1;
  private long loadSeconds;
  private double beside;

  /**
   * Begins a job.
   *
   * @param keeps whether data is cached from the start, as with named policies
   * @param threads threads that may prefetch; 0: none
   */
  public SimulatedJob(boolean keeps, int threads) {
    this.tuner =
        new Tuner(
            this::copy,
            this::loads,
            () -> now,
            keeps,
            () -> true,
            () -> hits,
            threads == 0 ? null : () -> prefetched,
            threads,
            event -> events.add(event.change + ": " + event.reason));
    totals.epochs = 1;
  }

  private JobStatisticsEvent loads() {
    JobStatisticsEvent loading = new JobStatisticsEvent();
    loading.wall = totals.wall > 0 ? 0 : loadSeconds * SECOND;
    loading.stall = loading.wall;
    loading.prepStall = loading.wall;
    loading.batches = 50 * loadSeconds;
    loading.epochs = 1;
    return loading;
  }

  private JobStatisticsEvent copy() {
    JobStatisticsEvent copy = new JobStatisticsEvent();
    copy.add(totals);
    copy.epochs = totals.epochs;
    copy.loadedBatches = totals.loadedBatches;
    return copy;
  }

  /**
   * Simulates one epoch.
   *
   * @param seconds its duration
   * @param batches batches in a second without prefetching
   * @param withPrefetching batches in a second, for each thread that prefetches
   * @param waits share of the time spent waiting
   */
  public SimulatedJob epoch(int seconds, int batches, int withPrefetching, double waits) {
    for (int i = 0; i < seconds; i++) {
      int threads = tuner.threads();
      long wait = Math.round(waits * SECOND);
      now += SECOND;
      totals.wall += SECOND;
      totals.compute += SECOND - wait;
      totals.stall += wait;
      totals.prepStall += wait;
      totals.decodeTime += wait + Math.round(beside * SECOND);
      totals.batches += threads == 0 ? batches : (long) threads * withPrefetching;
      totals.samples = 32 * totals.batches;
      prefetched += threads;
      tuner.keeps();
    }
    totals.epochs++;
    return this;
  }

  /** Sets how often the job has used cached data. */
  public SimulatedJob hits(long count) {
    hits = count;
    return this;
  }

  /** Simulates a thread that takes batches and does not train. */
  public SimulatedJob loaded(int batches) {
    totals.loadedBatches += batches;
    return this;
  }

  /** Returns the events and the line of the summary. */
  public String summary() {
    return String.join("\n", events) + "\n" + tuner.summary();
  }

  /** Simulates a job that waits for 60 % of its first epoch; the arguments describe the second. */
  public static String kept(int batches, double waits) {
    return kept(30, batches, waits);
  }

  /** Like the other {@code kept}, with epochs of {@code seconds} seconds. */
  public static String kept(int seconds, int batches, double waits) {
    return new SimulatedJob(false, 0)
        .epoch(seconds, 50, 50, 0.6)
        .epoch(seconds, batches, batches, waits)
        .summary();
  }

  /**
   * Simulates a job that waits for 30 % of the time; each thread prefetches {@code batches} a
   * second.
   */
  public static String prefetched(int threads, int batches) {
    return new SimulatedJob(true, threads).epoch(40, 50, batches, 0.3).summary();
  }

  /** Prefetches, and then begins to use cached data: the effect must be measured again. */
  public static String restarted() {
    SimulatedJob job = new SimulatedJob(true, 1);
    job.hits = 0;
    job.epoch(40, 50, 60, 0.3);
    job.hits = 1;
    return job.epoch(1, 50, 60, 0.3).summary();
  }

  /** Waits, begins to cache, and never uses cached data. */
  public static String unused() {
    SimulatedJob job = new SimulatedJob(false, 0);
    job.hits = 0;
    return job.epoch(30, 50, 50, 0.6).epoch(30, 50, 50, 0.6).summary();
  }

  /** Waits for its first batch longer than it computes. */
  public static String firstBatch() {
    return new SimulatedJob(false, 0).epoch(1, 1, 1, 0.9).summary();
  }

  /** Hardly waits, because other threads prepare for 60 % of the cores' time. */
  public static String preparedBeside() {
    SimulatedJob job = new SimulatedJob(false, 0);
    job.beside = 0.6 * Runtime.getRuntime().availableProcessors();
    return job.epoch(9, 1, 1, 0.01).summary();
  }

  /** Loads batches for two seconds, and then trains, hardly waiting for any. */
  public static String switchedBack() {
    SimulatedJob job = new SimulatedJob(false, 0);
    job.hits = 0;
    for (int i = 0; i < 2; i++) {
      job.now += SECOND;
      job.loadSeconds++;
      job.tuner.keeps();
    }
    return job.epoch(9, 50, 50, 0.01).summary();
  }
}
