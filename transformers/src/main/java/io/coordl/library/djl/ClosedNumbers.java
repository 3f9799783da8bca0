package io.coordl.library.djl;

import ai.djl.ndarray.BaseNDManager;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.host.AgentThread;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.Services;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Holds the memory of small arrays that the program creates while gradients are collected, until
 * the gradient collector closes. Methods such as {@code mul(Number)} create a small array and close
 * it. Its memory may then be garbage-collected, although {@code backward} still reads it. Garbage
 * collection rarely happens in between, unless other threads allocate memory, as the agent's do.
 *
 * <p>Holds at most 4 MiB, and releases the oldest memory first.
 */
public final class ClosedNumbers implements LibraryHooks {
  private static final int MAX_ARRAY_BYTES = 4 << 10;
  private static final long MAX_HELD_BYTES = 4 << 20;

  /** Approximate overhead of a direct buffer, in bytes. */
  private static final int OVERHEAD = 256;

  private static final String PACKAGE = "ai.djl.pytorch.engine.";

  /** Memory of an array, null if the engine owns it. */
  private final LibraryField<ByteBuffer> memory;

  /** Whether gradients are collected; the engine allows one collector at a time. */
  private final AtomicBoolean collecting;

  private final Queue<ByteBuffer> held = new ArrayDeque<>();
  private long heldBytes;

  public ClosedNumbers(Class<?> declaring, Services services) throws ReflectiveOperationException {
    ClassLoader loader = declaring.getClassLoader();
    memory =
        LibraryField.of(
            Class.forName(PACKAGE + "PtNDArray", false, loader), "dataRef", ByteBuffer.class);
    collecting =
        LibraryField.of(
                Class.forName(PACKAGE + "PtGradientCollector", false, loader),
                "isCollecting",
                AtomicBoolean.class)
            .require(declaring);
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (!(self instanceof BaseNDManager)) {
      release(); // The gradient collector closes.
      return null;
    }
    return collecting.get() && !(Thread.currentThread() instanceof AgentThread)
        ? InterceptedCall.after(array -> hold(array, arguments[0]))
        : null;
  }

  /** Holds the array's memory, unless it is that of the program's own buffer. */
  private @Nullable Object hold(@Nullable Object array, Object buffer) {
    ByteBuffer bytes = memory.get(Objects.requireNonNull(array));
    if (bytes != null && bytes != buffer && bytes.capacity() <= MAX_ARRAY_BYTES) {
      hold(bytes);
    }
    return array;
  }

  private synchronized void hold(ByteBuffer bytes) {
    held.add(bytes);
    heldBytes += size(bytes);
    while (heldBytes > MAX_HELD_BYTES) {
      heldBytes -= size(held.remove());
    }
  }

  private synchronized void release() {
    held.clear();
    heldBytes = 0;
  }

  private static long size(ByteBuffer bytes) {
    return (long) bytes.capacity() + OVERHEAD;
  }
}
