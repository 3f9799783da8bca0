package io.coordl.gpu;

import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.telemetry.attribution.WaitListener;
import io.coordl.telemetry.log.UserLog;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * {@code gpu.ranges=on}: marks epochs, batches and data stalls of training threads as NVTX ranges,
 * which Nsight Systems shows above the kernels. The ranges of a thread are nested: an epoch
 * contains stalls and batches, and a batch lasts from the end of its stall to the beginning of the
 * next. A failure of the library is logged once and ends the ranges. Safe for concurrent use.
 */
public final class NsightRanges implements WaitListener {
  private static final ByteBuffer EPOCH = text("epoch");
  private static final ByteBuffer BATCH = text("batch");
  private static final ByteBuffer STALL = text("data stall");

  private final Callable<Natives> opener;
  private final UserLog log;
  private final AtomicReference<@Nullable Natives> library = new AtomicReference<>();
  private final ThreadLocal<Open> threads = ThreadLocal.withInitial(Open::new);
  private volatile boolean failed;

  private static final class Open {
    /** Source of the epoch's batches; refers to null if no epoch is open. */
    WeakReference<Object> batches = new WeakReference<>(null);

    boolean inEpoch;
    boolean inBatch;
    boolean inWait;
  }

  /** Loads nothing before the first wait. */
  public NsightRanges(Binding binding, UserLog log) {
    this(binding::openRanges, log);
  }

  NsightRanges(Callable<Natives> opener, UserLog log) {
    this.opener = opener;
    this.log = log;
  }

  private static ByteBuffer text(String ascii) {
    byte[] bytes = (ascii + '\0').getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).clear();
  }

  /** Returns why Nsight lacks ranges; empty if none is missing. */
  public String whyUnused() {
    return failed
        ? "the NVTX library failed, as logged above"
        : library.get() == null ? "no training thread waited for a batch" : "";
  }

  @Override
  public void waitBegins(@Nullable Object subject) {
    Open open = threads.get();
    endBatch(open);
    if (subject != null && !open.batches.refersTo(subject)) {
      endEpoch(open);
      push(EPOCH);
      open.inEpoch = true;
      open.batches = new WeakReference<>(subject);
    }
    push(STALL);
    open.inWait = true;
  }

  @Override
  public void waitEnds(@Nullable Object result) {
    Open open = threads.get();
    if (!open.inWait) {
      return;
    }
    open.inWait = false;
    pop();
    if (!(result instanceof Boolean more)) {
      if (result != null) {
        push(BATCH);
        open.inBatch = true;
      }
    } else if (!more) {
      endEpoch(open);
    }
  }

  private void endBatch(Open open) {
    if (open.inBatch) {
      open.inBatch = false;
      pop();
    }
  }

  private void endEpoch(Open open) {
    if (open.inEpoch) {
      open.inEpoch = false;
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

  /**
   * Calls a function; ignores its result, which is the nesting depth, or an error if no tool
   * listens.
   */
  private void call(String function, Object... arguments) {
    if (failed) {
      return;
    }
    try {
      Natives known = library.get();
      if (known == null) {
        known = opener.call();
        library.set(known);
      }
      known.call(function, arguments);
    } catch (Exception | Error e) {
      failed = true;
      log.say("gpu.ranges: Nsight sees no ranges: " + UnavailableException.reason(e));
    }
  }
}
