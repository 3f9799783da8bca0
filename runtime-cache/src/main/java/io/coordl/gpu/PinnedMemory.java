package io.coordl.gpu;

import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.advice.Text.Bytes;
import io.coordl.telemetry.log.UserLog;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code gpu.pinned=on}: locks the pages of memory from which batches are copied to a device, so
 * that the device reads them directly. Otherwise the driver first copies them to pages of its own,
 * on the waiting thread. If the driver refuses, this is logged once, and copies continue as before.
 *
 * <p>The driver knows locked memory by its address. If the JVM unmapped it and mapped something
 * else there, the device would read pages that are gone. So all memory registered with the driver
 * stays reachable from here until the driver has unregistered it, forever if that fails. Nothing is
 * unregistered when the job ends, because a driver that hangs would keep the JVM from ending. The
 * kernel unlocks the pages of an ended process, killed or not.
 *
 * <p>Locking a slot of the staging buffer takes longer than one copy from it saves. So a slot is
 * locked once the earlier copies from it would have saved the time that locking takes; while these
 * times are unknown, one earlier copy is enough. If copies from locked slots turn out to be no
 * faster, no more slots are locked.
 *
 * <p>Safe only for programs that wait for such copies to end, as PyTorch's blocking copies do.
 * (From memory that is not locked, the data has been read when the copy call returns.) Thread-safe.
 */
public final class PinnedMemory {
  /** A slot that was read only once may never be read again. */
  private static final int MIN_COPIES = 1;

  /** After this many copies, a slot is locked even if that would not have paid yet. */
  private static final int MAX_COPIES = 16;

  /** Number of copies from locked slots after which they are compared with others. */
  private static final int COMPARED_COPIES = 16;

  private final Callable<Cuda> opener;
  private final LongSupplier nanoTime;
  private final UserLog log;
  private final Set<ByteBuffer> held = Collections.newSetFromMap(new IdentityHashMap<>());
  private @Nullable Cuda cuda;
  private long bytes;
  private boolean failed;
  private volatile boolean copiesSlots;

  /** Reads per slot before it is locked; empty once locking does not pay. */
  private final IdentityHashMap<ByteBuffer, Integer> reads = new IdentityHashMap<>();

  private final Pace locking = new Pace();
  private final Pace fromLocked = new Pace();
  private final Pace fromOther = new Pace();
  private boolean pays = true;

  /** Whether this thread's current slot is locked. */
  private final ThreadLocal<Boolean> locked = ThreadLocal.withInitial(() -> false);

  /** Minimum time per byte: cold code and a busy machine do not affect it. */
  private static final class Pace {
    private double nanosPerByte = Double.MAX_VALUE;
    private int count;

    void add(long nanos, long bytes) {
      nanosPerByte = Math.min(nanosPerByte, (double) nanos / Math.max(1, bytes));
      count++;
    }
  }

  /** Loads nothing before the first batch that goes to a device. */
  public PinnedMemory(Binding binding, UserLog log) {
    this(() -> Cuda.open(binding), log, System::nanoTime);
  }

  PinnedMemory(Callable<Cuda> opener, UserLog log, LongSupplier nanoTime) {
    this.opener = opener;
    this.nanoTime = nanoTime;
    this.log = log;
  }

  /** Called once batches are copied to a device from the slots of the staging buffer. */
  public void copySlots() {
    copiesSlots = true;
  }

  /** Called before a slot is read; all of its pages are in memory. */
  public void reading(ByteBuffer slot) {
    if (copiesSlots) {
      locked.set(lockIfWorthwhile(slot));
    }
  }

  /** Counts a read of the slot, and locks the slot once that pays; returns whether it is locked. */
  private synchronized boolean lockIfWorthwhile(ByteBuffer slot) {
    if (held.contains(slot)) {
      return true;
    }
    if (!pays || reads.merge(slot, 1, Integer::sum) <= copiesToPay()) {
      return false;
    }
    reads.remove(slot);
    return pin(slot, Integer.MAX_VALUE);
  }

  /** Returns the number of copies after which locking a slot pays. */
  private int copiesToPay() {
    double saved = fromOther.nanosPerByte - fromLocked.nanosPerByte;
    return fromLocked.count == 0 || saved <= 0
        ? MIN_COPIES
        : (int) Math.max(MIN_COPIES, Math.min(MAX_COPIES, locking.nanosPerByte / saved));
  }

  /** Called when this thread has copied {@code size} bytes to a device from its current slot. */
  public void copied(long size, long nanos) {
    if (copiesSlots) {
      compare(locked.get(), size, nanos);
    }
  }

  private synchronized void compare(boolean fromLockedSlot, long size, long nanos) {
    (fromLockedSlot ? fromLocked : fromOther).add(nanos, size);
    if (pays
        && fromLocked.count >= COMPARED_COPIES
        && fromOther.count > 0
        && fromLocked.nanosPerByte >= fromOther.nanosPerByte) {
      pays = false;
      reads.clear();
      log.say(
          Text.format(
              "gpu.pinned: no more slots of prep=coordinate are page-locked, because copies from"
                  + " locked slots take %.2f ns a byte, and from others %.2f",
              fromLocked.nanosPerByte, fromOther.nanosPerByte));
    }
  }

  /**
   * Locks memory, unless it is locked already or too many other pieces are locked.
   *
   * @param memory direct memory of whole pages that hold nothing else; always pass the same object
   * @param maxPieces maximum number of locked pieces of memory, including this one
   * @return whether it is locked now
   */
  public synchronized boolean pin(ByteBuffer memory, int maxPieces) {
    if (held.contains(memory)) {
      return true;
    }
    if (failed || held.size() >= maxPieces) {
      return false;
    }
    held.add(memory); // First, because it may be locked even if the call fails.
    try {
      Cuda known = cuda;
      if (known == null) {
        known = opener.call();
        cuda = known;
      }
      long start = nanoTime.getAsLong();
      if (known.register(memory.duplicate().clear())) {
        locking.add(nanoTime.getAsLong() - start, memory.capacity());
        bytes += memory.capacity();
        return true;
      }
      held.remove(memory);
    } catch (Exception | Error e) {
      fail("from now on no memory is page-locked: ", e);
    }
    return false;
  }

  private void fail(String what, Throwable e) {
    failed = true;
    log.say("gpu.pinned: " + what + UnavailableException.reason(e));
  }

  /** Unlocks memory that is not being copied; if that fails, it is never freed. */
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
      fail("memory that is no longer used stays page-locked: ", e);
    }
  }

  /** Describes the memory locked now; empty if there is none. */
  public synchronized String summary() {
    return bytes == 0 ? "" : "gpu.pinned: " + new Bytes(bytes) + " of batches are page-locked";
  }

  /** Returns why nothing is locked; empty if something is. */
  public synchronized String whyUnused() {
    return bytes > 0
        ? ""
        : failed
            ? "the driver refused, as logged above"
            : copiesSlots
                ? "no slot of prep=coordinate was reused, so locking one would not have paid"
                : "no batch was copied to a GPU from memory of prepared=share or prep=coordinate";
  }
}
