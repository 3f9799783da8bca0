package io.coordl.bridge;

import org.jspecify.annotations.Nullable;

/** The sink before the agent is installed, and after it has given up. */
final class NoSpans implements SpanSink {
  @Override
  public long enter(SpanKind kind, @Nullable Object subject) {
    return 0;
  }

  @Override
  public void exit(long token, @Nullable Object result) {}

  @Override
  public void exitInnermost(SpanKind kind) {}

  @Override
  public void fetchTime(long startNanos, long endNanos) {}

  @Override
  public void itemFetched(String path, long startNanos, long nanos, long bytes, boolean memory) {}

  @Override
  public boolean loadingSample() {
    return false;
  }
}
