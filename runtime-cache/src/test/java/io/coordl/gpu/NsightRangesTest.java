package io.coordl.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.SpanSink;
import io.coordl.gpu.Natives.UnavailableException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which ranges Nsight sees, and that they end in the order in which they must. */
class NsightRangesTest {
  private final List<String> ranges = new ArrayList<>();
  private final List<String> said = new ArrayList<>();
  private final Recorder recorder = new Recorder();
  private final Object batches = new Object();
  private boolean trains = true;
  private boolean fails;
  private final NsightRanges sink =
      new NsightRanges(this::library, recorder, () -> trains, said::add);

  /** Hands out tokens as the recorder does: how many spans are open. */
  private static final class Recorder implements SpanSink {
    int open;
    int seen;
    boolean ended;

    @Override
    public long enter(SpanKind kind, @Nullable Object subject) {
      seen++;
      return ended ? 0 : ++open;
    }

    @Override
    public void exit(long token, @Nullable Object result) {
      open = (int) token - 1;
    }

    @Override
    public void fetchTime(long startNanos, long endNanos) {
      seen++;
    }

    @Override
    public void itemFetched(String path, long startNanos, long nanos, long bytes, Origin origin) {
      seen++;
    }

    @Override
    public boolean loadingSample() {
      return true;
    }
  }

  private Natives library() {
    return new Natives() {
      @Override
      public int call(String function, Object... arguments) throws UnavailableException {
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

  private void ask(Object of, boolean more) {
    sink.exit(sink.enter(SpanKind.ASK, of), more);
  }

  private void take(Object of) {
    long token = sink.enter(SpanKind.TAKE, of);
    sink.exit(sink.enter(SpanKind.SAMPLE, null), new Object());
    sink.exit(token, new Object());
  }

  @Test
  void anEpochHasStallsAndBatches() {
    ask(batches, true);
    take(batches);
    ask(batches, false);
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
    assertThat(sink.whyUnused()).isEmpty();
    ask(batches, false);
    assertThat(ranges)
        .as("an empty epoch of the same")
        .endsWith("epoch", "data stall", "pop", "pop");
  }

  @Test
  void otherBatchesEndTheEpochThatWasLeft() {
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
  void aWaitThatThrowsBringsNoBatch() {
    long outer = sink.enter(SpanKind.FIT, null);
    sink.enter(SpanKind.TAKE, batches);
    sink.exit(outer, new Object()); // The exception passes the call inside.
    assertThat(ranges).containsExactly("epoch", "data stall", "pop");
    take(batches);
    assertThat(ranges.subList(3, ranges.size())).containsExactly("data stall", "pop", "batch");
  }

  @Test
  void aThreadThatOnlyLoadsHasNone() {
    trains = false;
    take(batches);
    assertThat(ranges).isEmpty();
    assertThat(recorder.seen).isEqualTo(2);
    assertThat(sink.whyUnused()).isEqualTo("no training thread waited for a batch");
  }

  @Test
  void afterTheEndOfTheJobNoStallStaysOpen() {
    recorder.ended = true;
    sink.enter(SpanKind.TAKE, batches);
    assertThat(ranges).containsExactly("epoch", "data stall", "pop");
  }

  @Test
  void aLibraryThatFailsIsSaidOnceAndSpansGoOn() {
    take(batches);
    fails = true;
    take(batches);
    fails = false;
    int before = ranges.size();
    take(batches);
    assertThat(ranges).hasSize(before);
    assertThat(said).containsExactly("gpu.ranges: Nsight sees no ranges: no nvtxRangePop");
    assertThat(recorder.seen).isEqualTo(6);
    assertThat(recorder.open).isZero();
    assertThat(sink.whyUnused()).contains("as was said");
  }

  @Test
  void allElseGoesToTheRecorder() {
    sink.fetchTime(0, 1);
    sink.itemFetched("a", 0, 1, 1, Origin.MEMORY);
    assertThat(recorder.seen).isEqualTo(2);
    assertThat(sink.loadingSample()).isTrue();
  }
}
