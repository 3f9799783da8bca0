package io.coordl.telemetry.attribution;

import org.jspecify.annotations.Nullable;

/** Receives the waits of training threads for batches, on these threads. Never throws. */
public interface WaitListener {
  /** Called when a {@code hasNext} or {@code next} of {@code subject} begins. */
  void waitBegins(@Nullable Object subject);

  /**
   * Called when the call has returned {@code result}; null if it threw. Also called for waits whose
   * start was not reported, even those of threads that do not train.
   */
  void waitEnds(@Nullable Object result);
}
