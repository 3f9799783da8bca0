package io.coordl.bridge;

import java.io.IOException;
import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Links call sites whose types the bridge cannot name. They become {@code invokedynamic} and are
 * linked with the caller's view of the library.
 *
 * <p>OpenCV's {@code imread(path, flags)} opens the file in native code. If the runtime serves the
 * item, its bytes go to the library's {@code imdecode}, which runs the same decoder and returns the
 * same pixels. If anything unexpected happens, such as an empty result, the original call runs.
 */
public final class NativeReads {
  /** The libraries' default flags: {@code IMREAD_COLOR}. */
  private static final int IMREAD_COLOR = 1;

  private static final MethodType GENERIC =
      MethodType.methodType(Object.class, String.class, int.class);

  /** Length in bytes of the longest path that the C library opens. */
  private static final int MAX_PATH_BYTES = 4095;

  private final MethodHandle original;
  private final Class<?> library;
  private volatile boolean initialized;
  private final MethodHandle newBytes;
  private final @Nullable MethodHandle newMat;
  private final MethodHandle imdecode;
  private final MethodHandle isEmpty;
  private final MethodHandle release;

  private NativeReads(Lookup caller, MethodHandle original, Class<?> library) throws Throwable {
    this.original = original.asType(GENERIC);
    this.library = library;
    Class<?> mat = original.type().returnType();
    ClassLoader loader = library.getClassLoader();
    boolean javacpp = mat.getName().startsWith("org.bytedeco.");
    Class<?> bytes =
        Class.forName(
            javacpp ? "org.bytedeco.javacpp.BytePointer" : "org.opencv.core.MatOfByte",
            false,
            loader);
    MethodType noResult = MethodType.methodType(void.class);
    newBytes =
        caller
            .findConstructor(bytes, noResult.appendParameterTypes(byte[].class))
            .asFixedArity()
            .asType(MethodType.methodType(Object.class, byte[].class));
    newMat =
        javacpp
            ? caller
                .findConstructor(mat, noResult.appendParameterTypes(bytes))
                .asType(MethodType.methodType(Object.class, Object.class))
            : null;
    imdecode =
        caller
            .findStatic(library, "imdecode", MethodType.methodType(mat, mat, int.class))
            .asType(MethodType.methodType(Object.class, Object.class, int.class));
    isEmpty =
        caller
            .findVirtual(mat, "empty", MethodType.methodType(boolean.class))
            .asType(MethodType.methodType(boolean.class, Object.class));
    release =
        caller
            .findVirtual(javacpp ? bytes : mat, javacpp ? "close" : "release", noResult)
            .asType(MethodType.methodType(void.class, Object.class));
  }

  /**
   * Bootstrap method of an {@code imread} call with (String) or (String, int) that returns the
   * library's Mat.
   */
  public static CallSite imread(
      Lookup caller, String name, MethodType type, MethodHandle original) {
    try {
      boolean flags = type.parameterCount() == 2;
      Class<?> library = caller.revealDirect(original).getDeclaringClass();
      MethodHandle full = flags ? original : MethodHandles.dropArguments(original, 1, int.class);
      NativeReads reads = new NativeReads(caller, full, library);
      MethodHandle target =
          MethodHandles.lookup().findVirtual(NativeReads.class, "read", GENERIC).bindTo(reads);
      if (!flags) {
        target = MethodHandles.insertArguments(target, 1, IMREAD_COLOR);
      }
      return new ConstantCallSite(target.asType(type));
    } catch (Throwable t) {
      Bridge.fault("link " + name + type, t);
      return new ConstantCallSite(original);
    }
  }

  /**
   * Bootstrap method of a {@link FileChannel} method that only the JDK's own class implements (JDK
   * 22: {@code map} into an arena, which {@link FileChannel} itself refuses); the channel is the
   * first argument.
   */
  public static CallSite fileChannel(
      Lookup caller, String name, MethodType type, MethodHandle original) {
    try {
      MethodHandle file =
          MethodHandles.lookup()
              .findStatic(
                  NativeReads.class,
                  "file",
                  MethodType.methodType(FileChannel.class, FileChannel.class));
      MethodHandle recordMapping =
          MethodHandles.lookup()
              .findStatic(
                  NativeReads.class,
                  "recordMapping",
                  MethodType.methodType(void.class, FileChannel.class, MapMode.class));
      MethodHandle recorded =
          MethodHandles.foldArguments(
              MethodHandles.filterArguments(original, 0, file), recordMapping);
      return new ConstantCallSite(recorded.asType(type));
    } catch (Throwable t) {
      Bridge.fault("link " + name + type, t);
      return new ConstantCallSite(original.asType(type));
    }
  }

  @SuppressWarnings("UnusedMethod") // Linked by fileChannel.
  private static FileChannel file(FileChannel channel) throws IOException {
    if (channel instanceof ItemChannel item) {
      if (!item.isOpen()) {
        throw new ClosedChannelException();
      }
      return item.file();
    }
    return channel;
  }

  @SuppressWarnings("UnusedMethod") // Linked by fileChannel.
  private static void recordMapping(FileChannel channel, MapMode mode) {
    if (channel != null && mode == MapMode.READ_WRITE) {
      Bridge.mapsToWrite(channel);
    }
  }

  @SuppressWarnings("UnusedMethod") // Linked by imread.
  private @Nullable Object read(@Nullable String path, int flags) throws Throwable {
    long span = Spans.enter(SpanKind.DECODE, path);
    Object image = null;
    try {
      if (!initialized) {
        // The original call initialises the library first, too: if that fails, the program sees the
        // original failure.
        Class.forName(library.getName(), true, library.getClassLoader());
        initialized = true;
      }
      ItemCursor item = opensAsWritten(path) ? ItemCursor.open(path) : null;
      if (item == null) {
        image = original.invokeExact(path, flags);
        return image;
      }
      try {
        image = decode(item, flags);
        if (image == null) {
          // The library reads while it decodes, so the bytes are counted but not timed.
          image = original.invokeExact(path, flags);
          item.fetchedWhole(System.nanoTime());
        }
      } finally {
        item.close();
      }
      return image;
    } finally {
      Spans.exit(span, image);
    }
  }

  /**
   * Whether native code and java.io, which drops redundant slashes, open the same file for this
   * path.
   */
  private static boolean opensAsWritten(@Nullable String path) {
    return path == null
        || (!path.endsWith("/") && path.getBytes(StandardCharsets.UTF_8).length <= MAX_PATH_BYTES);
  }

  /** Returns the image; null if the library cannot decode it from memory. Never throws. */
  private @Nullable Object decode(ItemCursor item, int flags) {
    if (!item.served || item.size == 0 || !item.restFitsArray()) {
      return null;
    }
    try {
      byte[] array = item.readRest(Integer.MAX_VALUE - 8);
      Object bytes = newBytes.invokeExact(array);
      try {
        Object buffer = newMat == null ? bytes : newMat.invokeExact(bytes);
        Object image = imdecode.invokeExact(buffer, flags);
        if (buffer != bytes && buffer instanceof AutoCloseable closeable) {
          closeable.close();
        }
        return image == null || (boolean) isEmpty.invokeExact(image) ? null : image;
      } finally {
        release.invokeExact(bytes);
      }
    } catch (Throwable t) {
      Bridge.fault("decode " + item.path(), t);
      return null;
    }
  }
}
