package io.coordl.gpu;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Page-locked memory over a fake driver that only records what it locks. */
public final class LockedMemory {
  /** Sizes in bytes, in the order of the calls; negative for unlocked memory, 0 for a log line. */
  public final List<Long> locked = new ArrayList<>();

  /** The memory that the adapters use. */
  public final PinnedMemory pinned =
      new PinnedMemory(
          () -> new Cuda(new RecordingNatives()), word -> locked.add(0L), System::nanoTime);

  private final class RecordingNatives implements Natives {
    @Override
    public int invoke(String function, Object... arguments) {
      switch (function) {
        case "cuDeviceGetCount" -> ((ByteBuffer) arguments[0]).putInt(0, 1);
        case "cuDevicePrimaryCtxGetState" -> ((ByteBuffer) arguments[2]).putInt(0, 1);
        case "cuMemHostRegister_v2" -> locked.add((Long) arguments[1]);
        case "cuMemHostUnregister" -> locked.add(-(long) ((ByteBuffer) arguments[0]).capacity());
        default -> {}
      }
      return 0;
    }

    @Override
    public String binding() {
      return "none";
    }
  }
}
