package io.coordl.gpu;

import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.SpanSink;
import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.log.UserLog;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code gpu.ranges=on}: epochs, batches and data stalls of training threads as ranges of NVTX,
 * which Nsight Systems shows over the kernels. A thread's ranges are nested: in an epoch there are
 * stalls, and from the end of one that brought a batch to the beginning of the next, a batch. All
 * spans go on to the recorder. When the library fails, that is said once and there are no more
 * ranges. Safe for concurrent use.
 */
public final class NsightRanges implements SpanSink {
  private static final ByteBuffer EPOCH = text("epoch");
  private static final ByteBuffer BATCH = text("batch");
  private static final ByteBuffer STALL = text("data stall");

  interface Opener {
    Natives open() throws UnavailableException;
  }

  private final Opener opener;
  private final SpanSink spans;
  private final BooleanSupplier waits;
  private final UserLog log;
  private final AtomicReference<@Nullable Natives> library = new AtomicReference<>();
  private final ThreadLocal<Open> threads = ThreadLocal.withInitial(Open::new);
  private volatile boolean failed;

  private static final class Open {
    /** Whose batches those of the epoch are; of null if no epoch is open. */
    WeakReference<Object> batches = new WeakReference<>(null);

    boolean epoch;
    boolean batch;
    long wait;
  }

  /**
   * Nothing is loaded before the first wait.
   *
   * @param spans where all spans go
   * @param waits whether a {@code hasNext} or {@code next} that this thread calls now is its wait
   *     for a batch that it trains with
   */
  public NsightRanges(Binding binding, SpanSink spans, BooleanSupplier waits, UserLog log) {
    this(binding::openRanges, spans, waits, log);
  }

  NsightRanges(Opener opener, SpanSink spans, BooleanSupplier waits, UserLog log) {
    this.opener = opener;
    this.spans = spans;
    this.waits = waits;
    this.log = log;
  }

  private static ByteBuffer text(String ascii) {
    byte[] bytes = (ascii + '\0').getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).clear();
  }

  /** Why Nsight shows no range; empty if there were some. */
  public String whyUnused() {
    return failed
        ? "the library of NVTX failed, as was said"
        : library.get() == null ? "no training thread waited for a batch" : "";
  }

  @Override
  public long enter(SpanKind kind, @Nullable Object subject) {
    boolean wait =
        !failed && (kind == SpanKind.ASK || kind == SpanKind.TAKE) && waits.getAsBoolean();
    if (!wait) {
      return spans.enter(kind, subject);
    }
    Open open = threads.get();
    beginWait(open, subject);
    long token = spans.enter(kind, subject);
    if (token == 0) {
      pop(); // The job has ended, and nobody hears of the end of the wait.
    }
    open.wait = token;
    return token;
  }

  @Override
  public void exit(long token, @Nullable Object result) {
    spans.exit(token, result);
    if (!failed) {
      Open open = threads.get();
      if (open.wait != 0 && token <= open.wait) {
        endWait(open, token == open.wait ? result : null); // Else it threw.
      }
    }
  }

  private void beginWait(Open open, @Nullable Object subject) {
    endBatch(open);
    if (subject != null && !open.batches.refersTo(subject)) {
      endEpoch(open);
      push(EPOCH);
      open.epoch = true;
      open.batches = new WeakReference<>(subject);
    }
    push(STALL);
  }

  private void endWait(Open open, @Nullable Object result) {
    open.wait = 0;
    pop();
    if (!(result instanceof Boolean more)) {
      if (result != null) {
        push(BATCH);
        open.batch = true;
      }
    } else if (!more) {
      endEpoch(open);
    }
  }

  private void endBatch(Open open) {
    if (open.batch) {
      open.batch = false;
      pop();
    }
  }

  private void endEpoch(Open open) {
    if (open.epoch) {
      open.epoch = false;
      open.batches = new WeakReference<>(null);
      pop();
    }
  }

  private void push(ByteBuffer name) {
    call("nvtxRangePushA", name);
  }

  private void pop() {
    call("nvtxRangePop");
  }

  /** What it returns is the depth, or that no tool listens. */
  private void call(String function, Object... arguments) {
    if (failed) {
      return;
    }
    try {
      Natives known = library.get();
      if (known == null) {
        known = opener.open();
        library.set(known);
      }
      known.call(function, arguments);
    } catch (UnavailableException | RuntimeException | Error e) {
      failed = true;
      log.say("gpu.ranges: Nsight sees no ranges: " + UnavailableException.reason(e));
    }
  }

  @Override
  public void fetchTime(long startNanos, long endNanos) {
    spans.fetchTime(startNanos, endNanos);
  }

  @Override
  public void itemFetched(String path, long startNanos, long nanos, long bytes, Origin origin) {
    spans.itemFetched(path, startNanos, nanos, bytes, origin);
  }

  @Override
  public boolean loadingSample() {
    return spans.loadingSample();
  }
}
