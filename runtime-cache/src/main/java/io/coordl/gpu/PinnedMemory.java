package io.coordl.gpu;

import io.coordl.advice.Text.Bytes;
import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.log.UserLog;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * {@code gpu.pinned=on}: memory from which batches are copied to a device has its pages locked, so
 * that the device reads them by itself. Else the driver first copies them to pages of its own, on
 * the thread that waits. Where the driver refuses, that is said once, and copies are as they were.
 *
 * <p>The driver knows locked memory by its address. If the JVM unmapped it and mapped something
 * else there, the device would read pages that are gone. So whatever was given to the driver is
 * reachable from here until the driver has given it back, for good if it does not, and nothing is
 * given back when the job ends: a driver that hangs would keep the JVM from ending. The kernel
 * unlocks the pages of a process that is gone, killed or not.
 *
 * <p>Safe only for programs that wait for such copies to end, as PyTorch's blocking ones do: from
 * memory that is not locked a copy has left it when the call returns. Thread-safe.
 */
public final class PinnedMemory {
  private final Callable<Cuda> opener;
  private final UserLog log;
  private final Set<ByteBuffer> held = Collections.newSetFromMap(new IdentityHashMap<>());
  private @Nullable Cuda cuda;
  private long bytes;
  private boolean failed;
  private volatile boolean copies;

  /** Nothing is loaded before the first batch that goes to a device. */
  public PinnedMemory(Binding binding, UserLog log) {
    this(() -> Cuda.open(binding), log);
  }

  PinnedMemory(Callable<Cuda> opener, UserLog log) {
    this.opener = opener;
    this.log = log;
  }

  /** From now on, batches are copied to a device from the slots of the staging buffer. */
  public void copySlots() {
    copies = true;
  }

  /** A slot is about to be read from; all of its pages are in memory. */
  public void reading(ByteBuffer slot) {
    if (copies) {
      pin(slot, Integer.MAX_VALUE);
    }
  }

  /**
   * Locks memory, unless it is locked or so much else is.
   *
   * @param memory direct, of whole pages that hold nothing else, always the same object
   * @param most pieces of memory that may be locked then
   * @return whether it is locked, now or before
   */
  public synchronized boolean pin(ByteBuffer memory, int most) {
    if (held.contains(memory)) {
      return true;
    }
    if (failed || held.size() >= most) {
      return false;
    }
    held.add(memory); // First: it may be locked whatever the call says of that.
    try {
      Cuda known = cuda;
      if (known == null) {
        known = opener.call();
        cuda = known;
      }
      if (known.register(memory.duplicate().clear())) {
        bytes += memory.capacity();
        return true;
      }
      held.remove(memory);
    } catch (Exception | Error e) {
      failed("from now on no memory is page-locked: ", e);
    }
    return false;
  }

  private void failed(String what, Throwable e) {
    failed = true;
    log.say("gpu.pinned: " + what + UnavailableException.reason(e));
  }

  /** Unlocks memory of which nothing is being copied; if that fails, it is never freed. */
  public synchronized void unpin(ByteBuffer memory) {
    try {
      Cuda known = cuda;
      if (known != null
          && !failed
          && held.contains(memory)
          && known.unregister(memory.duplicate().clear())) {
        held.remove(memory);
        bytes -= memory.capacity();
      }
    } catch (Exception | Error e) {
      failed("memory that is not used any more stays page-locked: ", e);
    }
  }

  /** What is locked now, in words; empty if nothing is. */
  public synchronized String said() {
    return bytes == 0 ? "" : "gpu.pinned: " + new Bytes(bytes) + " of batches are page-locked";
  }

  /** Why nothing is locked; empty if something is. */
  public synchronized String whyUnused() {
    return bytes > 0
        ? ""
        : failed
            ? "the driver refused, as was said"
            : "no batch was copied to a GPU from what prepared=share or prep=coordinate keeps";
  }
}
