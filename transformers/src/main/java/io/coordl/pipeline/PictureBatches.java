package io.coordl.pipeline;

import io.coordl.telemetry.advice.Text;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Counts batches whose pictures the agent crops and resizes. Thread-safe. */
public final class PictureBatches {
  private final LongAdder batches = new LongAdder();
  private final AtomicInteger threads = new AtomicInteger();

  /** Counts a batch whose samples were prepared by up to {@code threadCount} threads. */
  public void made(int threadCount) {
    batches.increment();
    threads.accumulateAndGet(threadCount, Math::max);
  }

  /** Returns the line of the summary; empty if there was no batch. */
  public String summary() {
    long count = batches.sum();
    int threadCount = threads.get();
    return count == 0
        ? ""
        : Text.format(
            "transforms: the agent cropped and resized %,d batches of pictures%s",
            count, threadCount == 1 ? "" : ", each on up to " + threadCount + " threads");
  }
}
