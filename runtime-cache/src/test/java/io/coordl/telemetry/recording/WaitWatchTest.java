package io.coordl.telemetry.recording;

import static io.coordl.bridge.SpanKind.FIT;
import static io.coordl.bridge.SpanKind.TAKE;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.attribution.ClockedSpans;
import io.coordl.telemetry.attribution.SpanRecorder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A wait that is too long is logged once, whoever finds it; the test controls the clock. */
class WaitWatchTest {
  private static final long SECOND = 1_000_000_000L;

  private final List<String> logged = new ArrayList<>();
  private final Object iterator = new Object();
  private long now = SECOND;
  private final SpanRecorder spans = ClockedSpans.on(() -> now);
  private final WaitWatch watch = new WaitWatch(spans, logged::add);
  private long wait;

  @BeforeEach
  void train() {
    spans.enter(FIT, null);
    beginWait();
    endWait(1);
  }

  private void beginWait() {
    wait = spans.enter(TAKE, iterator);
  }

  private void endWait(long seconds) {
    now += seconds * SECOND;
    spans.exit(wait, new Object());
    now += SECOND;
  }

  @Test
  void eachWaitIsLoggedOnce() {
    beginWait();
    now += 9 * SECOND;
    watch.check();
    assertThat(logged).isEmpty();
    now += SECOND;
    watch.check();
    watch.check();
    assertThat(logged).hasSize(1);
    endWait(0);
    beginWait();
    now += 200 * SECOND;
    watch.check();
    assertThat(logged).hasSize(2);
  }

  @Test
  void aWaitThatAnotherReaderFoundFirstIsLoggedToo() {
    beginWait();
    now += 10 * SECOND;
    assertThat(watch.open()).isNotNull();
    assertThat(logged).isEmpty();
    watch.check();
    watch.check();
    assertThat(logged).hasSize(1);
  }

  @Test
  void atTheEndOnlyTheRecordingGetsTheWait() {
    beginWait();
    now += 10 * SECOND;
    watch.checkAtEnd();
    assertThat(logged).isEmpty();
    assertThat(watch.open()).isNotNull();
  }
}
