package io.coordl.telemetry.attribution;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.SpanKind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many threads record spans at once. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ManyThreadsTest {
  private static final int SPANS = 500;

  /** Another thread holds the recorder's locks the whole time. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16, 64})
  void spansOfSamplesTakeNoLock(int threads) throws Exception {
    SpanRecorder spans =
        new SpanRecorder(
            new EventLog(),
            new Durations() {
              @Override
              public void record(Kind kind, long nanos) {}

              @Override
              public void epochEnded(long epoch) {}
            },
            () -> 0);
    spans.events().close();
    AtomicInteger done = new AtomicInteger();
    List<Thread> all = new ArrayList<>();
    synchronized (spans) {
      synchronized (spans.totals) {
        synchronized (spans.events) {
          for (int i = 0; i < threads; i++) {
            Thread thread =
                new Thread(
                    () -> {
                      for (int n = 0; n < SPANS; n++) {
                        for (SpanKind kind :
                            List.of(
                                SpanKind.SAMPLE,
                                SpanKind.DECODE,
                                SpanKind.TRANSFORM,
                                SpanKind.CONVERT)) {
                          spans.exit(spans.enter(kind, null), null);
                        }
                      }
                      done.incrementAndGet();
                    });
            thread.start();
            all.add(thread);
          }
          for (Thread thread : all) {
            thread.join();
          }
        }
      }
    }
    assertThat(done).hasValue(threads);
  }
}
