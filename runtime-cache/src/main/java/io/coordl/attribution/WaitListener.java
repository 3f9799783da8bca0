package io.coordl.attribution;

import org.jspecify.annotations.Nullable;

/** Hears of the waits of training threads for their batches, on these threads. Never throws. */
public interface WaitListener {
  /** A {@code hasNext} or {@code next} of {@code subject} begins. */
  void waitBegins(@Nullable Object subject);

  /** It is over, and gave this; null if it threw. Also called of waits that were not told of. */
  void waitEnds(@Nullable Object result);
}
