package io.coordl.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.SpanKind;
import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.telemetry.attribution.Durations;
import io.coordl.telemetry.attribution.EventLog;
import io.coordl.telemetry.attribution.SpanRecorder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Nsight sees the right ranges, and they end in the right order. */
class NsightRangesTest {
  private final List<String> ranges = new ArrayList<>();
  private final List<String> logged = new ArrayList<>();
  private final Object batches = new Object();
  private boolean fails;
  private final NsightRanges shown = new NsightRanges(this::library, logged::add);
  private final SpanRecorder sink = new SpanRecorder(new EventLog(), new NoDurations(), () -> 0);

  private static final class NoDurations implements Durations {
    @Override
    public void record(Kind kind, long nanos) {}

    @Override
    public void epochEnded(long epoch) {}
  }

  @BeforeEach
  void train() {
    sink.onWait(shown);
    sink.exit(sink.enter(SpanKind.COMPUTE, null), null);
  }

  private Natives library() {
    return new Natives() {
      @Override
      public int invoke(String function, Object... arguments) throws UnavailableException {
        if (fails) {
          throw new UnavailableException("no " + function);
        }
        ranges.add(arguments.length == 0 ? "pop" : text((ByteBuffer) arguments[0]));
        return 0;
      }

      @Override
      public String binding() {
        return "fake";
      }
    };
  }

  private static String text(ByteBuffer buffer) {
    String text = StandardCharsets.US_ASCII.decode(buffer.duplicate()).toString();
    assertThat(text).endsWith("\0");
    return text.strip().replace("\0", "");
  }

  private void hasNext(Object of, boolean more) {
    sink.exit(sink.enter(SpanKind.ASK, of), more);
  }

  private void take(Object of) {
    long token = sink.enter(SpanKind.TAKE, of);
    sink.exit(sink.enter(SpanKind.SAMPLE, null), new Object());
    sink.exit(token, new Object());
  }

  @Test
  void anEpochHasStallsAndBatches() {
    hasNext(batches, true);
    take(batches);
    hasNext(batches, false);
    assertThat(ranges)
        .containsExactly(
            "epoch",
            "data stall",
            "pop",
            "data stall",
            "pop",
            "batch",
            "pop",
            "data stall",
            "pop",
            "pop");
    assertThat(shown.whyUnused()).isEmpty();
    hasNext(batches, false);
    assertThat(ranges)
        .as("an empty epoch over the same batches")
        .endsWith("epoch", "data stall", "pop", "pop");
  }

  @Test
  void batchesOfAnotherLoopEndTheEpoch() {
    take(batches);
    take(new Object());
    assertThat(ranges)
        .containsExactly(
            "epoch",
            "data stall",
            "pop",
            "batch",
            "pop",
            "pop",
            "epoch",
            "data stall",
            "pop",
            "batch");
  }

  @Test
  void aWaitThatThrowsOpensNoBatchRange() {
    long outer = sink.enter(SpanKind.FIT, null);
    sink.enter(SpanKind.TAKE, batches);
    sink.exit(outer, new Object()); // The exception skips the exit of the inner call.
    assertThat(ranges).containsExactly("epoch", "data stall", "pop");
    take(batches);
    assertThat(ranges.subList(3, ranges.size())).containsExactly("data stall", "pop", "batch");
  }

  @Test
  void aThreadThatOnlyLoadsHasNoRanges() throws Exception {
    Thread loading = new Thread(() -> take(batches));
    loading.start();
    loading.join();
    assertThat(ranges).isEmpty();
    assertThat(shown.whyUnused()).isEqualTo("no training thread waited for a batch");
  }

  @Test
  void noRangeBeginsAfterTheJob() {
    sink.finish();
    take(batches);
    assertThat(ranges).isEmpty();
  }

  @Test
  void aFailingLibraryIsLoggedOnceAndSpansContinue() {
    take(batches);
    fails = true;
    take(batches);
    fails = false;
    int before = ranges.size();
    take(batches);
    assertThat(ranges).hasSize(before);
    assertThat(logged).containsExactly("gpu.ranges: Nsight sees no ranges: no nvtxRangePop");
    assertThat(sink.totals().snapshot().batches).isEqualTo(3);
    assertThat(shown.whyUnused()).contains("as logged above");
  }
}
