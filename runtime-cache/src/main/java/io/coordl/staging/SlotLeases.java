package io.coordl.staging;

import io.coordl.shared.MappedLength;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What a job has taken and not given back: the slots it holds and the mappings that are not yet
 * unmapped. A mapping goes when it is garbage, never before, since the program may have views of
 * it; until then pages it wrote take memory. So mappings are bounded, and beyond that, or where a
 * slot may not be kept, a batch is copied into memory of this process. Thread-safe.
 */
final class SlotLeases {
  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /** Far below the number of mappings that Linux allows a process, 65530. */
  private static final int MAX_MAPPINGS = 1024;

  private final StagingMemory memory;
  private final StagingBuffer buffer;
  private final Gate gate;
  private final StagingCounters counters;
  private final long maxBytes;
  private final AtomicLong mappedBytes = new AtomicLong();
  private final Set<Lease> mappings = ConcurrentHashMap.newKeySet();
  private final ReferenceQueue<ByteBuffer> garbage = new ReferenceQueue<>();

  /** Of one job; at most {@code maxBytes} may be mapped at once. */
  SlotLeases(
      StagingMemory memory,
      StagingBuffer buffer,
      Gate gate,
      StagingCounters counters,
      long maxBytes) {
    this.memory = memory;
    this.buffer = buffer;
    this.gate = gate;
    this.counters = counters;
    this.maxBytes = maxBytes;
  }

  /** One mapping; it must not reach the buffer, or that would never be garbage. */
  private final class Lease extends PhantomReference<ByteBuffer> {
    private final int slot;
    private final int bytes;
    private final AtomicBoolean released = new AtomicBoolean();
    private final WeakReference<ByteBuffer> buffer;

    Lease(ByteBuffer buffer, int slot, int bytes) {
      super(buffer, garbage);
      this.slot = slot;
      this.bytes = bytes;
      this.buffer = new WeakReference<>(buffer);
    }

    void release() {
      if (!released.getAndSet(true)) {
        gate.inside(() -> SlotLeases.this.buffer.release(slot));
      }
    }
  }

  /** The batch in a slot that this job leases; null, and the slot is given back, if that fails. */
  @Nullable StagedBatch batch(int slot) {
    int bytes = buffer.length(slot);
    drain();
    if (buffer.mayKeep() && mappings.size() < MAX_MAPPINGS && reserve(bytes)) {
      StagedBatch mapped = map(slot, bytes);
      if (mapped != null) {
        return mapped;
      }
    }
    try {
      return read(slot, staged -> new StagedBatch(copy(staged), () -> {}));
    } catch (IOException | OutOfMemoryError e) {
      return null;
    }
  }

  /**
   * What {@code reader} makes of a slot that this job leases, and gives back with that; null if
   * there is no way to the bytes.
   */
  <T> @Nullable T read(int slot, BatchReader<T> reader) throws IOException {
    try {
      int bytes = buffer.length(slot);
      ByteBuffer readable;
      try {
        readable = memory.readable(slot, bytes).asReadOnlyBuffer();
      } catch (IOException e) {
        return null;
      }
      T made = reader.read(readable.order(ByteOrder.nativeOrder()));
      MappedLength.settle();
      counters.count(sum -> sum.copied++);
      counters.count(sum -> sum.takenBytes += bytes);
      return made;
    } catch (InternalError e) {
      if (memory.isSound()) {
        throw e; // It is the reader's own.
      }
      return null;
    } finally {
      buffer.release(slot);
    }
  }

  private boolean reserve(int bytes) {
    if (mappedBytes.addAndGet(bytes) <= maxBytes) {
      return true;
    }
    mappedBytes.addAndGet(-bytes);
    return false;
  }

  private @Nullable StagedBatch map(int slot, int bytes) {
    try {
      // Whole pages, which a view of the batch keeps alive: the last one has a word to be stored.
      ByteBuffer mapped = memory.copyOnWrite(slot, bytes);
      Lease lease = new Lease(mapped, slot, bytes);
      mappings.add(lease);
      counters.count(sum -> sum.mapped++);
      counters.count(sum -> sum.takenBytes += bytes);
      return new StagedBatch(mapped.slice(0, bytes).order(ByteOrder.nativeOrder()), lease::release);
    } catch (IOException | OutOfMemoryError e) {
      mappedBytes.addAndGet(-bytes);
      return null;
    }
  }

  private static ByteBuffer copy(ByteBuffer staged) {
    int page = (int) StagingDescriptor.PAGE;
    int bytes = staged.remaining();
    return ByteBuffer.allocateDirect((int) StagingFile.pages(bytes) + page)
        .alignedSlice(page)
        .slice(0, bytes)
        .order(ByteOrder.nativeOrder())
        .put(0, staged, 0, bytes);
  }

  /** Gives back what is unreachable; called now and then. */
  void drain() {
    for (Reference<?> gone = garbage.poll(); gone != null; gone = garbage.poll()) {
      if (gone instanceof Lease lease) {
        lease.release();
        mappings.remove(lease);
        mappedBytes.addAndGet(-lease.bytes);
      }
    }
  }

  /**
   * Makes what the program still uses independent of the slots, which others fill once this job has
   * left: storing a word as it is makes the page the program's own.
   */
  void detach() {
    for (Lease lease : mappings) {
      ByteBuffer held = lease.released.get() ? null : lease.buffer.get();
      for (int at = 0;
          held != null && memory.isSound() && at + 8 <= held.capacity();
          at += (int) StagingDescriptor.PAGE) {
        long word = (long) WORDS.getVolatile(held, at);
        WORDS.compareAndSet(held, at, word, word);
      }
    }
  }
}
