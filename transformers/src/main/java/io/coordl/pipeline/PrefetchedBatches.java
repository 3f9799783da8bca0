package io.coordl.pipeline;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * {@code prefetch=N} around another source: an agent thread makes the next batch while the program
 * computes. When the batch is requested, its inputs are compared, and it is made again if they
 * differ. Two threads never use the source at once: every other call waits first.
 */
final class PrefetchedBatches implements EpochSource {
  private final EpochSource source;
  private final LibraryEpoch epoch;
  private final Prefetcher prefetcher;
  private int last = -1;
  private @Nullable Next next;

  /** Whether the agent's thread is stuck in the program's code; then nothing more is prefetched. */
  private boolean hangs;

  PrefetchedBatches(EpochSource source, LibraryEpoch epoch, Prefetcher prefetcher) {
    this.source = source;
    this.epoch = epoch;
    this.prefetcher = prefetcher;
  }

  @Override
  public boolean begin() {
    return source.begin();
  }

  @Override
  public @Nullable Object batch(int number) throws IOException {
    Next made = awaitNext();
    next = null;
    last = number;
    if (hangs) {
      return null;
    }
    if (made != null
        && made.number == number
        && made.batch.get() != null
        && made.state.equals(state(number))) {
      prefetcher.used();
      return made.batch.get();
    }
    return source.batch(number);
  }

  private @Nullable Next awaitNext() {
    Next underWay = next;
    hangs |= underWay != null && !underWay.batch.await(EarlyBatch.PATIENCE);
    return underWay;
  }

  @Override
  public boolean isKnown(int number) {
    Next made = awaitNext();
    return !hangs
        && ((made != null && made.number == number && made.batch.get() != null)
            || source.isKnown(number));
  }

  @Override
  public @Nullable Object state(int number) {
    return source.state(number);
  }

  @Override
  public void finish(Object batch) {
    source.finish(batch);
    int number = last + 1;
    if (next == null && number < epoch.size() && prefetcher.isWorthwhile() && epoch.mayRunEarly()) {
      Object state = state(number);
      if (state != null) {
        Next begun = new Next(number, state);
        next = begun.batch.begin(prefetcher) ? begun : null;
      }
    }
  }

  private @Nullable Object make(int number) {
    try {
      epoch.enterThread();
      return source.batch(number);
    } catch (Exception | Error e) {
      return null; // The program's own call shows whether it throws then.
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
    awaitNext();
    next = null;
    if (!hangs) {
      source.end();
    }
  }

  /** A batch that is being, or was, made early. */
  private final class Next {
    final int number;

    /** Its inputs when it was begun. */
    final Object state;

    /** If nobody takes it, its arrays are garbage-collected. */
    final EarlyBatch batch;

    Next(int number, Object state) {
      this.number = number;
      this.state = state;
      this.batch = new EarlyBatch(() -> make(number), unwanted -> {});
    }
  }
}
