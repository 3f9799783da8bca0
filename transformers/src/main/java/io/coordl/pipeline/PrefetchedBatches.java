package io.coordl.pipeline;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * {@code prefetch=N} around another source: {@link BatchPrefetcher} prepares the next batch while
 * the program computes. Only one thread uses the source at a time; all other calls wait.
 */
final class PrefetchedBatches implements EpochSource {
  private final EpochSource source;
  private final LibraryEpoch epoch;
  private final BatchPrefetcher prefetcher;
  private final PeekingIterator<Integer> order;
  private BatchPrefetcher.@Nullable Asked asked;
  private @Nullable Object state;

  /** Whether the agent's thread is stuck in the program's code; then nothing more is prefetched. */
  private boolean hangs;

  PrefetchedBatches(EpochSource source, BatchPrefetcher prefetcher) {
    this.source = source;
    this.epoch = source.epoch();
    this.prefetcher = prefetcher;
    int batches = epoch.isOpenEnded() ? Integer.MAX_VALUE : Math.toIntExact(epoch.size());
    this.order = new PeekingIterator<>(IntStream.range(0, batches).iterator(), 1, next -> {});
  }

  @Override
  public LibraryEpoch epoch() {
    return epoch;
  }

  @Override
  public boolean begin() {
    return source.begin();
  }

  @Override
  public @Nullable Object batch(int number) throws IOException {
    if (!awaitIdle()) {
      return null;
    }
    skipTo(number);
    asked = prefetcher.enter(new Early(number), order.next(), 0);
    Object batch = asked == null ? null : asked.batch();
    return batch == null ? source.batch(number) : batch;
  }

  /** Skips to a batch, because the library may have prepared the first batches of the epoch. */
  private void skipTo(int number) {
    Integer next;
    while ((next = order.peek()) != null && next < number) {
      order.next();
    }
  }

  /** Waits until no batch is being prepared; false if the preparing thread hangs or has hung. */
  private boolean awaitIdle() {
    hangs |= !prefetcher.awaitIdle();
    return !hangs;
  }

  @Override
  public boolean isKnown(int number) {
    return awaitIdle() && (prefetcher.awaitReady(order) || source.isKnown(number));
  }

  @Override
  public @Nullable Object state(int number) {
    return source.state(number);
  }

  @Override
  public void finish(Object batch) {
    BatchPrefetcher.Asked now = asked;
    asked = null; // It refers to the batch.
    source.finish(batch);
    Integer number = order.peek();
    if (now != null && number != null && prefetcher.isWorthwhile() && epoch.mayRunEarly()) {
      state = state(number);
      if (state != null) {
        now.next();
      }
    }
  }

  @Override
  public void used() {
    source.used();
  }

  @Override
  public boolean isOver() {
    return hangs || source.isOver();
  }

  @Override
  public void end() {
    if (awaitIdle()) {
      prefetcher.begin(epoch.dataset());
      source.end();
    }
  }

  /**
   * The epoch as of the request for one batch. Its parts have already been examined; only the
   * inputs of each batch are compared.
   */
  private final class Early implements LibraryEpoch {
    private final int number;

    Early(int number) {
      this.number = number;
    }

    @Override
    public Object dataset() {
      return epoch.dataset();
    }

    @Override
    public PeekingIterator<?> upcoming() {
      return order;
    }

    /** Returns the inputs of the next batch. */
    @Override
    public Object settings() {
      return state == null ? "" : state;
    }

    @Override
    public boolean isCurrent(Object settings) {
      return settings.equals(source.state(number));
    }

    @Override
    public String change() {
      return epoch.change();
    }

    @Override
    public List<List<@Nullable Object>> stages(Object settings) {
      return List.of();
    }

    @Override
    public boolean haveSameParts(Object settings, Object other) {
      return true;
    }

    /** Returns null if the source throws; the program's own call then runs, and may throw too. */
    @Override
    public @Nullable Object prefetch(Object settings, Object samples, int position) {
      try {
        epoch.enterThread();
        return source.batch((Integer) samples);
      } catch (Exception | Error e) {
        return null;
      }
    }
  }
}
