package io.coordl.telemetry.attribution;

import java.util.function.LongSupplier;

/** Creates recorders on a clock that a test of another package controls. */
public final class ClockedSpans {
  private ClockedSpans() {}

  /** Returns a recorder without GC pauses that keeps no durations. */
  public static SpanRecorder on(LongSupplier clock) {
    return new SpanRecorder(new EventLog(), new Unheard(), () -> 0L, clock);
  }

  private static final class Unheard implements Durations {
    @Override
    public void record(Kind kind, long nanos) {}

    @Override
    public void epochEnded(long epoch) {}
  }
}
