package io.coordl.library.dl4j;

import io.coordl.pipeline.EarlyBatch;
import io.coordl.pipeline.Prefetcher;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.factory.Nd4j;

/**
 * {@code prefetch=N} if the program takes batches itself: an agent thread makes the next batch
 * while the program computes. When the batch is requested, its inputs are compared, and it is made
 * again if they differ. Two threads never use its source at once: every other call waits first. For
 * one epoch; like the iterator, used by one thread at a time.
 */
final class PrefetchedRecords implements BatchSource {
  private final BatchSource source;
  private final Prefetcher prefetcher;
  private final int batches;
  private final Integer device = Nd4j.getAffinityManager().getDeviceForCurrentThread();
  private int last = -1;
  private @Nullable Next next;

  /** Whether the agent's thread is stuck in the program's code; then nothing more is prefetched. */
  private boolean hangs;

  PrefetchedRecords(BatchSource source, Prefetcher prefetcher, int batches) {
    this.source = source;
    this.prefetcher = prefetcher;
    this.batches = batches;
  }

  @Override
  public boolean begin(IteratorEpoch owner) {
    return source.begin(owner);
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
    if (next == null
        && number < batches
        && prefetcher.isWorthwhile()
        && !isOfLibrary(Thread.currentThread())
        && Nd4j.getMemoryManager().getCurrentWorkspace() == null) {
      Object state = state(number);
      if (state != null) {
        Next begun = new Next(number, state);
        next = begun.batch.begin(prefetcher) ? begun : null;
      }
    }
  }

  /** Whether it is the library's thread that prefetches batches for {@code fit}. */
  static boolean isOfLibrary(Thread thread) {
    return thread.getClass().getSimpleName().equals("AsyncPrefetchThread");
  }

  private @Nullable Object make(int number) {
    try {
      Nd4j.getAffinityManager().unsafeSetDevice(device);
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
