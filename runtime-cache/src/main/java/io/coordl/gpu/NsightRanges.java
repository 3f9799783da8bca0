package io.coordl.gpu;

import io.coordl.attribution.WaitListener;
import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.log.UserLog;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * {@code gpu.ranges=on}: epochs, batches and data stalls of training threads as ranges of NVTX,
 * which Nsight Systems shows over the kernels. A thread's ranges are nested: in an epoch there are
 * stalls, and from the end of one that brought a batch to the beginning of the next, a batch. When
 * the library fails, that is said once and there are no more ranges. Safe for concurrent use.
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
    /** Whose batches those of the epoch are; of null if no epoch is open. */
    WeakReference<Object> batches = new WeakReference<>(null);

    boolean epoch;
    boolean batch;
    boolean wait;
  }

  /** Nothing is loaded before the first wait. */
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

  /** Why Nsight shows no range; empty if there were some. */
  public String whyUnused() {
    return failed
        ? "the library of NVTX failed, as was said"
        : library.get() == null ? "no training thread waited for a batch" : "";
  }

  @Override
  public void waitBegins(@Nullable Object subject) {
    Open open = threads.get();
    endBatch(open);
    if (subject != null && !open.batches.refersTo(subject)) {
      endEpoch(open);
      push(EPOCH);
      open.epoch = true;
      open.batches = new WeakReference<>(subject);
    }
    push(STALL);
    open.wait = true;
  }

  @Override
  public void waitEnds(@Nullable Object result) {
    Open open = threads.get();
    if (!open.wait) {
      return;
    }
    open.wait = false;
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
