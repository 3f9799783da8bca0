package io.coordl.gpu;

import io.coordl.gpu.Natives.UnavailableException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The devices' own clock: waits until all that the program has given to them is done. By the driver
 * alone, in the contexts that the program has; makes none. Only for profiles, on the training
 * thread: it may wait as long as the device works.
 */
public final class Cuda {
  static final String LIBRARY = "libcuda.so.1";

  private final Natives natives;
  private final int devices;
  private final ByteBuffer flags = ByteBuffer.allocateDirect(Integer.BYTES);
  private final ByteBuffer active = ByteBuffer.allocateDirect(Integer.BYTES);
  private final ByteBuffer context =
      ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());

  private Cuda(Natives natives) throws UnavailableException {
    this.natives = natives;
    check("cuInit", 0);
    ByteBuffer count = ByteBuffer.allocateDirect(Integer.BYTES).order(ByteOrder.nativeOrder());
    check("cuDeviceGetCount", count);
    devices = count.getInt(0);
  }

  /** What waits for the devices; its failure is an exception each time. */
  static Cuda open(Binding binding) throws UnavailableException {
    return new Cuda(binding.open(LIBRARY, "cudart"));
  }

  private void check(String function, Object... arguments) throws UnavailableException {
    int result = natives.call(function, arguments);
    if (result != 0) {
      throw new UnavailableException(function + " failed with error " + result + " of CUDA");
    }
  }

  /** Waits for every device that the program uses; for one thread at a time. */
  synchronized void synchronize() throws UnavailableException {
    for (int device = 0; device < devices; device++) {
      active.putInt(0, 0);
      check("cuDevicePrimaryCtxGetState", device, flags, active);
      if (active.getInt(0) != 0) {
        check("cuDevicePrimaryCtxRetain", context, device);
        try {
          synchronizeContext();
        } finally {
          natives.call("cuDevicePrimaryCtxRelease_v2", device);
        }
      }
    }
  }

  private void synchronizeContext() throws UnavailableException {
    check("cuCtxPushCurrent_v2", context.getLong(0));
    try {
      check("cuCtxSynchronize");
    } finally {
      natives.call("cuCtxPopCurrent_v2", context);
    }
  }
}
