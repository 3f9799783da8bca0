package io.coordl.gpu;

import io.coordl.gpu.Natives.UnavailableException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Calls the CUDA driver in contexts that the program has made active. Creates no context, and
 * restores the context of each thread. Thread-safe.
 */
public final class Cuda {
  static final String LIBRARY = "libcuda.so.1";

  /** CU_MEMHOSTREGISTER_PORTABLE: for the contexts of all devices. */
  private static final int PORTABLE = 1;

  private final Natives natives;
  private final int devices;
  private final ByteBuffer flags = ByteBuffer.allocateDirect(Integer.BYTES);
  private final ByteBuffer active = ByteBuffer.allocateDirect(Integer.BYTES);
  private final ByteBuffer context =
      ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());

  Cuda(Natives natives) throws UnavailableException {
    this.natives = natives;
    check("cuInit", 0);
    ByteBuffer count = ByteBuffer.allocateDirect(Integer.BYTES).order(ByteOrder.nativeOrder());
    check("cuDeviceGetCount", count);
    devices = count.getInt(0);
  }

  /** Opens the library; throws if the driver is missing or fails. */
  static Cuda open(Binding binding) throws UnavailableException {
    return new Cuda(binding.open(LIBRARY, "cudart"));
  }

  private void check(String function, Object... arguments) throws UnavailableException {
    int result = natives.call(function, arguments);
    if (result != 0) {
      throw new UnavailableException(function + " failed with CUDA error " + result);
    }
  }

  /**
   * Waits, without a limit, until the devices have finished all work of the program; returns false
   * if the program uses no device. Only for profiles.
   */
  synchronized boolean synchronize() throws UnavailableException {
    return inContexts(devices, "cuCtxSynchronize") > 0;
  }

  /**
   * Locks the pages of direct memory, so that a device can copy from them directly.
   *
   * @param memory the whole capacity is locked; must not be unmapped before it is unregistered
   * @return false if the program has made no context active yet
   */
  synchronized boolean register(ByteBuffer memory) throws UnavailableException {
    return inContexts(1, "cuMemHostRegister_v2", memory, (long) memory.capacity(), PORTABLE) > 0;
  }

  /** Undoes {@link #register}; returns false if the program no longer has a context. */
  synchronized boolean unregister(ByteBuffer memory) throws UnavailableException {
    return inContexts(1, "cuMemHostUnregister", memory) > 0;
  }

  /**
   * Calls a function in at most {@code maxContexts} active contexts; returns the number of
   * contexts.
   */
  private int inContexts(int maxContexts, String function, Object... arguments)
      throws UnavailableException {
    int called = 0;
    for (int device = 0; device < devices && called < maxContexts; device++) {
      active.putInt(0, 0);
      check("cuDevicePrimaryCtxGetState", device, flags, active);
      if (active.getInt(0) != 0) {
        check("cuDevicePrimaryCtxRetain", context, device);
        try {
          check("cuCtxPushCurrent_v2", context.getLong(0));
          try {
            check(function, arguments);
          } finally {
            natives.call("cuCtxPopCurrent_v2", context);
          }
        } finally {
          natives.call("cuDevicePrimaryCtxRelease_v2", device);
        }
        called++;
      }
    }
    return called;
  }
}
