package io.coordl.gpu;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Memory whose pages a driver locks that notes it, and nothing else. */
public final class LockedMemory {
  /** Bytes of what is locked, in the order in which it was, and negative of what was unlocked. */
  public final List<Long> locked = new ArrayList<>();

  /** What the adapters use. */
  public final PinnedMemory pinned =
      new PinnedMemory(() -> new Cuda(new Noting()), word -> locked.add(0L), System::nanoTime);

  private final class Noting implements Natives {
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
