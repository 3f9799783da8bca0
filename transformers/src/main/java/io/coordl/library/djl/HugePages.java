package io.coordl.library.djl;

import io.coordl.bridge.Bridge;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Requests huge pages from the kernel for memory that is about to be filled. PyTorch's arrays in
 * main memory use new pages each time: for a batch of 64 x 3 x 224 x 224 floats, 9,400 page faults
 * take longer than computing its values. If the kernel refuses, nothing changes.
 *
 * <p>Only whole huge pages within the array are requested, and all of them are written immediately.
 * So the process uses no more memory than before.
 */
final class HugePages {
  private static final Path SETTING = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");
  private static final long PAGE = 2 << 20;

  /** {@code MADV_HUGEPAGE} of Linux. */
  private static final int ADVICE = 14;

  private static final @Nullable HugePages INSTANCE = find();

  private static volatile boolean failed;

  private final MethodHandle pointer;
  private final MethodHandle address;
  private final MethodHandle share;
  private final MethodHandle invoke;
  private final Object advise;

  /** Uses JNA, because DJL itself uses it, so no other library is loaded. */
  private HugePages(ClassLoader loader) throws ReflectiveOperationException {
    Class<?> pointers = Class.forName("com.sun.jna.Pointer", true, loader);
    Class<?> functions = Class.forName("com.sun.jna.Function", true, loader);
    MethodHandles.Lookup lookup = MethodHandles.publicLookup();
    pointer =
        lookup.findStatic(
            Class.forName("com.sun.jna.Native", true, loader),
            "getDirectBufferPointer",
            MethodType.methodType(pointers, Buffer.class));
    address =
        lookup.findStatic(pointers, "nativeValue", MethodType.methodType(long.class, pointers));
    share = lookup.findVirtual(pointers, "share", MethodType.methodType(pointers, long.class));
    invoke =
        lookup.findVirtual(
            functions, "invokeInt", MethodType.methodType(int.class, Object[].class));
    advise =
        functions.getMethod("getFunction", String.class, String.class).invoke(null, "c", "madvise");
  }

  private static @Nullable HugePages find() {
    try {
      ClassLoader loader = ai.djl.ndarray.NDManager.class.getClassLoader();
      return loader != null && Files.readString(SETTING).contains("[madvise]")
          ? new HugePages(loader)
          : null;
    } catch (IOException | ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null;
    }
  }

  /** Requests huge pages for the aligned part of this memory, unless it is small. */
  static void use(ByteBuffer memory) {
    HugePages pages = INSTANCE;
    if (pages != null && !failed && memory.capacity() >= 2 * PAGE) {
      pages.advise(memory);
    }
  }

  private void advise(ByteBuffer memory) {
    try {
      Object start = pointer.invoke(memory);
      long at = (long) address.invoke(start);
      long first = -at & PAGE - 1;
      long length = memory.capacity() - first & -PAGE;
      if (length > 0) {
        Object[] arguments = {share.invoke(start, first), length, ADVICE};
        int ignored = (int) invoke.invoke(advise, arguments);
      }
    } catch (Throwable t) {
      failed = true; // Small pages work, too.
      Bridge.fault("requesting huge pages", t);
    }
  }
}
