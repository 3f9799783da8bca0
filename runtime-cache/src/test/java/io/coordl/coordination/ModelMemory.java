package io.coordl.coordination;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Shared memory of a model: every access by the protocol is a step. Readers get the slot's bytes
 * rather than a copy, so tests detect a slot that is reused too early.
 */
final class ModelMemory implements StagingMemory {
  static final int SLOT_BYTES = (int) StagingDescriptor.PAGE;

  /** A planted defect. */
  enum Defect {
    NONE,
    /** Holders of a slot are ignored. */
    HOLDERS_UNSEEN,
    /** A stopped job counts as dead. */
    STOPPED_IS_DEAD
  }

  private final Model model;
  private final Defect defect;
  private final StagingDescriptor.Epoch[] epochs = {
    StagingDescriptor.Epoch.at(0, 64, 16), StagingDescriptor.Epoch.at(1, 64, 16)
  };
  private final Map<Long, Long> words = new HashMap<>();
  private final Map<Long, int[]> tables = new HashMap<>();
  private final ByteBuffer[] slots = new ByteBuffer[StagingDescriptor.MAX_SLOTS];

  ModelMemory(Model model, Defect defect, int slotCount) {
    this.model = model;
    this.defect = defect;
    words.put(StagingDescriptor.BUDGET, (long) slotCount * SLOT_BYTES);
  }

  @Override
  public StagingDescriptor.Epoch epoch(int descriptor) {
    return epochs[descriptor];
  }

  @Override
  public long itemRoom() {
    return 64;
  }

  @Override
  public long batchRoom() {
    return 16;
  }

  Defect defect() {
    return defect;
  }

  /** Reads without a step. */
  long peek(long at) {
    return words.getOrDefault(at, 0L);
  }

  void poke(long at, long value) {
    words.put(at, value);
  }

  @Override
  public long get(long at) {
    model.step();
    return blind(at) ? withoutHolders(peek(at)) : peek(at);
  }

  private boolean blind(long at) {
    return defect == Defect.HOLDERS_UNSEEN
        && at >= StagingDescriptor.slot(0)
        && at < StagingDescriptor.slot(StagingDescriptor.MAX_SLOTS);
  }

  private static long withoutHolders(long word) {
    return StagingDescriptor.state(word) == StagingDescriptor.READY
        ? word & ~StagingDescriptor.LOW_MASK
        : word;
  }

  @Override
  public void set(long at, long value) {
    model.step();
    words.put(at, value);
  }

  @Override
  public boolean compareAndSet(long at, long expected, long value) {
    model.step();
    long now = peek(at);
    if (blind(at) ? withoutHolders(now) != withoutHolders(expected) : now != expected) {
      return false;
    }
    words.put(at, value);
    return true;
  }

  @Override
  public void putInts(long at, int[] values) {
    model.step();
    tables.put(at, values.clone());
  }

  @Override
  public int[] getInts(long at, int count) {
    model.step();
    return Arrays.copyOf(tables.get(at), count);
  }

  private ByteBuffer slot(int slot, int bytes) {
    if (slots[slot] == null) {
      slots[slot] = ByteBuffer.allocate(SLOT_BYTES);
    }
    return slots[slot].slice(0, bytes).order(ByteOrder.nativeOrder());
  }

  @Override
  public ByteBuffer writable(int slot, int bytes) {
    model.step();
    return slot(slot, bytes);
  }

  @Override
  public ByteBuffer readable(int slot, int bytes) {
    model.step();
    return slot(slot, bytes);
  }

  @Override
  public void close() {}
}
