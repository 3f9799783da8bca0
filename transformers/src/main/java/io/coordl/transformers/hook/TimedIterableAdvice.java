package io.coordl.transformers.hook;

import io.coordl.bridge.Spans;
import net.bytebuddy.asm.Advice;
import org.jspecify.annotations.Nullable;

/** Marks the batches of a returned iterable; inlined. */
final class TimedIterableAdvice {
  private TimedIterableAdvice() {}

  @SuppressWarnings({"UnusedVariable", "ParameterReassignment"}) // Assigning is how advice returns.
  @Advice.OnMethodExit(suppress = Throwable.class)
  static void exit(@Advice.Return(readOnly = false) @Nullable Iterable<?> batches) {
    batches = Spans.timed(batches);
  }
}
