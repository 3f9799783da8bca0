package io.coordl.pipeline;

import io.coordl.thread.AgentThread;
import java.io.Closeable;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads of {@code prefetch=N}, each started when it first has work, and their statistics.
 * Thread-safe.
 */
public final class Prefetcher implements Closeable {
  private static final long IDLE_SECONDS = 2;
  private static final long SECONDS_TO_END = 2;

  private final @Nullable ItemPrefetcher items;
  private final BooleanSupplier worth;
  private final ThreadPoolExecutor batches = threads(1, Integer.MAX_VALUE, "coordl-batches-");
  private final LongAdder prepared = new LongAdder();
  private final LongAdder used = new LongAdder();

  /**
   * Prefetches only while that pays off.
   *
   * @param items null if there is no store to fetch items into
   * @param worth whether to prepare a batch now
   */
  public Prefetcher(@Nullable ItemPrefetcher items, BooleanSupplier worth) {
    this.worth = worth;
    this.items = items;
  }

  public @Nullable ItemPrefetcher items() {
    return items;
  }

  public boolean isWorthwhile() {
    return worth.getAsBoolean();
  }

  /** The thread that prepares batches, one after another. */
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

  /** The statistics for the summary; empty if nothing was prefetched. */
  public String said() {
    long fetched = items == null ? 0 : items.fetched();
    return count() == 0
        ? ""
        : String.format(
            "prefetch: %s items prefetched; %s batches prefetched, %s of them used",
            fetched, prepared.sum(), used.sum());
  }

  @Override
  public void close() {
    if (items != null) {
      items.close();
    }
    end(batches);
  }

  /** Daemon threads that inherit nothing from the program's thread that starts them. */
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
