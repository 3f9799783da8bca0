package io.coordl.profile;

import io.coordl.host.AgentThread;
import io.coordl.host.Machine;
import io.coordl.host.Uninterrupted;
import io.coordl.store.ByteBudget;
import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.event.HostEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Measures how fast this host reads items from storage and from memory. Used on the training
 * thread; {@link #event} also on the thread that ends the job.
 */
final class HostRates {
  /** Storage may be faster in the first second or two than it can sustain. */
  private static final long MIN_NANOS = TimeUnit.SECONDS.toNanos(8);

  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(15);
  private static final long MEMORY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long LOADING_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int WINDOWS = 20;

  /** Even half of this is more than the caches of most processors hold. */
  private static final long SAMPLE_BYTES = 256L << 20;

  private static final double PRECISION = 0.01;

  private final ProfiledItems items;
  private ProfiledItems.@Nullable Listing listing;
  private long itemsRead;
  final HostEvent measured = new HostEvent();

  HostRates(ProfiledItems items) {
    this.items = items;
  }

  /**
   * Returns all known items of the data set; lists them again only if more items have been seen.
   */
  ProfiledItems.Listing listing() {
    ProfiledItems.Listing known = listing;
    if (known == null || known.items().size() < items.seen()) {
      known = items.listed();
      listing = known;
    }
    return known;
  }

  /** An action on an item; returns the bytes moved, 0 on failure. */
  private interface Action {
    long on(ProfiledItems.Item item) throws IOException;
  }

  void keep(ProfiledItems.Listing all, int threads) {
    AtomicInteger next = new AtomicInteger();
    inParallel(
        threads,
        () -> {
          int i;
          while ((i = next.getAndIncrement()) < all.items().size()) {
            try {
              all.items().get(i).keep();
            } catch (IOException | RuntimeException e) {
              // The program's own read will report the error. The file system may be a class of
              // the program, and throw anything.
            }
          }
        });
  }

  /**
   * Result of reading items from storage; {@code perItem} is the wall time in nanoseconds, divided
   * by the number of items that all threads read.
   */
  record Reading(int threads, long items, long bytes, Estimate perItem) {
    long bytesPerSecond() {
      return Math.round(bytes * 1e9 / items / perItem.nanos());
    }
  }

  /**
   * Reads items from storage, beginning with those not read here before, because storage may have
   * cached the others. Returns null if too few could be read.
   */
  @Nullable Reading storage(int threads) {
    Run run = new Run(shuffled(), itemsRead, MIN_NANOS, MAX_NANOS);
    Estimate estimate = run.measure(threads, item -> item.readStored() ? item.size() : 0);
    itemsRead += run.done.get();
    return estimate == null
        ? null
        : new Reading(threads, run.done.get(), run.bytes.get(), estimate);
  }

  /** Sets the storage rate of the host. */
  void storageRate(Reading reading) {
    measured.storageRate = reading.bytesPerSecond();
    measured.storageRateError =
        Math.round(measured.storageRate * reading.perItem().relativeError());
    measured.storageThreads = reading.threads();
  }

  /** Measures how fast items are copied from the store, as happens when they are served. */
  void memory(int threads) {
    ThreadLocal<byte[]> target = ThreadLocal.withInitial(() -> new byte[1 << 20]);
    Run run = new Run(kept(), 0, MEMORY_NANOS, MEMORY_NANOS);
    Estimate estimate = run.measure(threads, item -> item.copyKept(target.get()));
    if (estimate != null) {
      measured.memoryRate =
          Math.round((double) run.bytes.get() / run.done.get() * 1e9 / estimate.nanos());
    }
  }

  /**
   * Returns some items, after putting them into the store; opens the store if no phase has needed
   * it.
   */
  private List<ProfiledItems.Item> kept() {
    List<ProfiledItems.Item> kept = new ArrayList<>();
    if (items.openStore(ByteBudget.parse(Long.toString(SAMPLE_BYTES))) == 0) {
      return kept;
    }
    long bytes = 0;
    long begun = System.nanoTime();
    for (ProfiledItems.Item item : shuffled()) {
      if (bytes >= SAMPLE_BYTES / 2 || System.nanoTime() - begun >= LOADING_NANOS) {
        break;
      }
      try {
        if (item.keep()) {
          kept.add(item);
          bytes += item.size();
        }
      } catch (IOException | RuntimeException e) {
        // The file is gone or not readable.
      }
    }
    return kept;
  }

  HostEvent event() {
    measured.cores = Runtime.getRuntime().availableProcessors();
    measured.memory = Machine.memory();
    measured.freeMemory = Machine.freeMemory() + items.kept(); // Freed when the job ends.
    measured.storageAccess = items.access();
    ProfiledItems.Listing known = listing;
    if (known != null && known.whole()) {
      measured.datasetItems = known.items().size();
      measured.datasetBytes = known.bytes();
    }
    return measured;
  }

  private List<ProfiledItems.Item> shuffled() {
    List<ProfiledItems.Item> all = new ArrayList<>(listing().items());
    Collections.shuffle(all, new Random(1));
    return all;
  }

  /** Threads that process items repeatedly until their rate is known. */
  private static final class Run {
    private final List<ProfiledItems.Item> items;
    private final long minNanos;
    private final long maxNanos;
    private final AtomicLong next;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong done = new AtomicLong();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicLong lastCheck = new AtomicLong();
    private final Marks marks = new Marks();
    private volatile boolean stopped;

    /** Begins with item number {@code first}, modulo the number of items. */
    Run(List<ProfiledItems.Item> items, long first, long minNanos, long maxNanos) {
      this.items = items;
      this.next = new AtomicLong(first);
      this.minNanos = minNanos;
      this.maxNanos = maxNanos;
    }

    @Nullable Estimate measure(int threads, Action action) {
      if (items.isEmpty()) {
        return null;
      }
      long begun = System.nanoTime();
      inParallel(
          threads,
          () -> {
            while (!stopped) {
              runOnce(action);
              long passed = System.nanoTime() - begun;
              stopped |=
                  passed >= maxNanos
                      || (passed >= minNanos && beginCheckIfDue(passed) && isKnown(begun));
            }
          });
      return estimate(begun);
    }

    private void runOnce(Action action) {
      long moved = 0;
      try {
        moved = action.on(items.get(Math.floorMod(next.getAndIncrement(), items.size())));
      } catch (IOException | RuntimeException e) {
        // The file is gone or not readable.
      }
      if (moved > 0) {
        bytes.addAndGet(moved);
        long number = done.incrementAndGet();
        if (marks.wants(number)) {
          marks.add(number, System.nanoTime());
        }
      } else if (failures.incrementAndGet() > items.size()) {
        stopped = true;
      }
    }

    /**
     * Limits the checks to one thread at a time and to a negligible rate; returns whether to check
     * now.
     */
    private boolean beginCheckIfDue(long passed) {
      long last = lastCheck.get();
      return passed - last >= CHECK_NANOS && lastCheck.compareAndSet(last, passed);
    }

    private boolean isKnown(long begun) {
      Estimate estimate = done.get() < 10 * WINDOWS ? null : estimate(begun);
      return estimate != null && estimate.relativeError() <= PRECISION;
    }

    private @Nullable Estimate estimate(long begun) {
      List<Step> windows = marks.windows(begun, WINDOWS);
      return windows.isEmpty() ? null : Estimate.of(windows);
    }
  }

  private static void inParallel(int count, Runnable task) {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Thread thread = new AgentThread("coordl-profile-" + (i + 1), task);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      Uninterrupted.await(
          Long.MAX_VALUE / 2,
          nanos -> {
            thread.join();
            return true;
          });
    }
  }
}
