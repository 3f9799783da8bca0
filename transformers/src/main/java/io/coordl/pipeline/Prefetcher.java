package io.coordl.pipeline;

import io.coordl.host.AgentThread;
import io.coordl.items.FileState;
import java.io.Closeable;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The threads of {@code prefetch=N}, which are started when there is work, and their statistics.
 * Thread-safe.
 */
public final class Prefetcher implements Closeable {
  private static final long IDLE_SECONDS = 2;
  private static final long SECONDS_TO_END = 2;
  private static final int CORES = Runtime.getRuntime().availableProcessors();

  private final @Nullable ItemPrefetcher items;
  private final IntSupplier threads;
  private final Predicate<FileState> mayChangeUnnoticed;
  private final ThreadPoolExecutor batches = threads(1, Integer.MAX_VALUE, "coordl-batches-");

  /** Threads that help with the samples of batches, besides those that request the batches. */
  private final ThreadPoolExecutor samples =
      threads(Math.max(1, CORES - 1), Integer.MAX_VALUE, "coordl-samples-");

  /** Number of threads that request a batch now and work on its samples themselves. */
  private final AtomicInteger requesters = new AtomicInteger();

  private final LongAdder prepared = new LongAdder();
  private final LongAdder used = new LongAdder();

  /**
   * Prefetches only while that pays off.
   *
   * @param items null if there is no store to fetch items into
   * @param threads the current number of threads; 0 while prefetching does not pay off
   */
  public Prefetcher(@Nullable ItemPrefetcher items, IntSupplier threads) {
    this(items, threads, file -> false);
  }

  /**
   * Like the other constructor.
   *
   * @param mayChangeUnnoticed whether the program may change a file without changing its state
   */
  public Prefetcher(
      @Nullable ItemPrefetcher items,
      IntSupplier threads,
      Predicate<FileState> mayChangeUnnoticed) {
    this.threads = threads;
    this.items = items;
    this.mayChangeUnnoticed = mayChangeUnnoticed;
  }

  /** Whether the program may change one of these files without changing its state. */
  boolean mayMiss(OpenedFiles files) {
    return files.haveOne(mayChangeUnnoticed);
  }

  public @Nullable ItemPrefetcher items() {
    return items;
  }

  public boolean isWorthwhile() {
    return threads() > 0;
  }

  /** Returns the number of threads that may prepare samples now. */
  int threads() {
    return threads.getAsInt();
  }

  /**
   * Runs a task for each sample of a batch, on the calling thread and on helpers; see {@link
   * SampleThreads#run}. Together they use at most as many threads as the JVM has cores (a container
   * may limit these), minus the threads that are requesting other batches.
   */
  public void eachSample(int count, SampleThreads.Work work) throws Exception {
    int requesting = requesters.incrementAndGet();
    try {
      SampleThreads.run(count, helpers(threads(), CORES, requesting), samples, work);
    } finally {
      requesters.decrementAndGet();
    }
  }

  /** Like {@link #eachSample}; without a prefetcher, on the calling thread alone. */
  public static void forEachSample(
      @Nullable Prefetcher prefetcher, int count, SampleThreads.Work work) throws Exception {
    if (prefetcher != null) {
      prefetcher.eachSample(count, work);
    } else {
      for (int place = 0; place < count; place++) {
        work.run(place);
      }
    }
  }

  /**
   * Returns the number of helpers of one batch.
   *
   * @param wanted threads per batch, the requesting one included
   * @param requesting threads that request a batch now, each of which uses a core
   */
  static int helpers(int wanted, int cores, int requesting) {
    return Math.max(0, Math.min(wanted - 1, cores - requesting));
  }

  /** Returns the maximum number of threads that prepare a batch of this many samples. */
  public int threadsFor(int count) {
    return Math.min(count, 1 + helpers(threads(), CORES, 1));
  }

  /** Returns the threads that help with the samples of a batch. */
  Executor samples() {
    return samples;
  }

  /** Returns the thread that prepares batches, one after another. */
  public Executor batches() {
    return batches;
  }

  public void prepared() {
    prepared.increment();
  }

  public void used() {
    used.increment();
  }

  public long count() {
    return (items == null ? 0 : items.fetched()) + prepared.sum();
  }

  /** Returns the statistics for the summary; empty if nothing was prefetched. */
  public String summary() {
    long fetched = items == null ? 0 : items.fetched();
    long ready = prepared.sum();
    return count() == 0
        ? ""
        : String.format(
            "prefetch: %s item%s prefetched; %s batch%s prefetched, %s of them used",
            fetched, fetched == 1 ? "" : "s", ready, ready == 1 ? "" : "es", used.sum());
  }

  @Override
  public void close() {
    if (items != null) {
      items.close();
    }
    end(batches);
    end(samples);
  }

  /** Creates a pool of daemon threads, which inherit nothing from the thread that starts them. */
  static ThreadPoolExecutor threads(int count, int queued, String name) {
    AtomicInteger number = new AtomicInteger();
    ThreadFactory factory = task -> new AgentThread(name + number.incrementAndGet(), task);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            count,
            count,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(queued),
            factory,
            new ThreadPoolExecutor.AbortPolicy());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Accepts no more work and waits briefly for running tasks, whose native libraries are about to
   * be unloaded.
   */
  static void end(ThreadPoolExecutor threads) {
    // Shutdown interrupts idle workers, which only agent threads may do.
    new AgentThread("coordl-end", threads::shutdown).start();
    try {
      threads.awaitTermination(SECONDS_TO_END, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
