package io.coordl.library.dl4j;

import io.coordl.pipeline.EarlyBatch;
import io.coordl.pipeline.Prefetcher;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.factory.Nd4j;

/**
 * {@code prefetch=N} where the program takes batches by hand: the next one is made on a thread of
 * the agent while the program computes on this one. What decides it is compared when it is asked
 * for, and it is made again if that is another. Its source is never used by two threads at once:
 * whoever asks for anything waits first. One epoch's; used as the iterator is.
 */
final class PrefetchedRecords implements BatchSource {
  private final BatchSource source;
  private final Prefetcher prefetcher;
  private final int batches;
  private final Integer device = Nd4j.getAffinityManager().getDeviceForCurrentThread();
  private int last = -1;
  private @Nullable Next next;

  /** The thread of the agent did not come out of the program's code: all is left there. */
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

  /** Whether it is the thread that prefetches batches for {@code fit}. */
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

  /** A batch that is, or was, made early. */
  private final class Next {
    final int number;

    /** What decided it when it was begun. */
    final Object state;

    /** Its arrays are garbage if nobody gets it. */
    final EarlyBatch batch;

    Next(int number, Object state) {
      this.number = number;
      this.state = state;
      this.batch = new EarlyBatch(() -> make(number), unwanted -> {});
    }
  }
}
