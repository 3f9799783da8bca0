package io.coordl.items;

import java.io.FileDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Calls {@code stat} and {@code fstat} through the JDK's internal methods. The public API takes no
 * descriptors, and its calls cost twice as much. {@link FileState#viewed} is the fallback if the
 * agent could not open the JDK's packages or its methods differ. The handles are in a record
 * because the JIT compiler treats a record's fields as constants, unlike those of most classes.
 */
record StatCalls(
    MethodHandle ofPath,
    MethodHandle ofDescriptor,
    MethodHandle descriptor,
    Class<?> channel,
    MethodHandle ofChannel,
    MethodHandle mode,
    MethodHandle size,
    MethodHandle device,
    MethodHandle inode,
    MethodHandle modifiedSecond,
    MethodHandle modifiedNano,
    MethodHandle changedSecond,
    MethodHandle changedNano) {
  /** Packages of {@code java.base} that the agent opens to this class. */
  static final String FILES = "sun.nio.fs";

  static final String CHANNELS = "sun.nio.ch";

  private static final int KIND = 0170000;
  private static final int REGULAR = 0100000;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private static final @Nullable StatCalls JDK = find();

  private static MethodHandle number(MethodHandles.Lookup lookup, Class<?> of, String field)
      throws ReflectiveOperationException {
    return lookup
        .findGetter(of, field, long.class)
        .asType(MethodType.methodType(long.class, Object.class));
  }

  private static @Nullable StatCalls find() {
    try {
      return jdk();
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null;
    }
  }

  private static StatCalls jdk() throws ReflectiveOperationException {
    Class<?> attributes = Class.forName(FILES + ".UnixFileAttributes");
    Class<?> path = Class.forName(FILES + ".UnixPath");
    Class<?> channel = Class.forName(CHANNELS + ".FileChannelImpl");
    MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(attributes, MethodHandles.lookup());
    return new StatCalls(
        lookup
            .findStatic(attributes, "get", MethodType.methodType(attributes, path, boolean.class))
            .asType(MethodType.methodType(Object.class, Path.class, boolean.class)),
        lookup
            .findStatic(attributes, "get", MethodType.methodType(attributes, int.class))
            .asType(MethodType.methodType(Object.class, int.class)),
        MethodHandles.privateLookupIn(FileDescriptor.class, MethodHandles.lookup())
            .findGetter(FileDescriptor.class, "fd", int.class),
        channel,
        MethodHandles.privateLookupIn(channel, MethodHandles.lookup())
            .findGetter(channel, "fd", FileDescriptor.class)
            .asType(MethodType.methodType(FileDescriptor.class, FileChannel.class)),
        lookup
            .findGetter(attributes, "st_mode", int.class)
            .asType(MethodType.methodType(int.class, Object.class)),
        number(lookup, attributes, "st_size"),
        number(lookup, attributes, "st_dev"),
        number(lookup, attributes, "st_ino"),
        number(lookup, attributes, "st_mtime_sec"),
        number(lookup, attributes, "st_mtime_nsec"),
        number(lookup, attributes, "st_ctime_sec"),
        number(lookup, attributes, "st_ctime_nsec"));
  }

  /**
   * Returns the JDK's calls; null if they are not available, or if a security manager has to check
   * each file.
   */
  @SuppressWarnings("removal") // JDK 17 has security managers; JDK 25 returns null.
  static @Nullable StatCalls usable() {
    return JDK == null || System.getSecurityManager() != null ? null : JDK;
  }

  FileState of(Path path) {
    if (path.getFileSystem() != FileSystems.getDefault()) {
      return FileState.viewed(path);
    }
    try {
      return state((Object) ofPath.invokeExact(path, true));
    } catch (Throwable e) {
      return missing(e);
    }
  }

  FileState of(FileDescriptor opened) {
    try {
      return state((Object) ofDescriptor.invokeExact((int) descriptor.invokeExact(opened)));
    } catch (Throwable e) {
      return missing(e);
    }
  }

  FileState of(FileChannel opened) {
    try {
      return channel.isInstance(opened)
          ? of((FileDescriptor) ofChannel.invokeExact(opened))
          : FileState.MISSING;
    } catch (Throwable e) {
      return missing(e);
    }
  }

  /** The JDK throws an internal exception if there is no such file. */
  private static FileState missing(Throwable e) {
    if (e instanceof Error error) {
      throw error; // A bug in the agent, or Thread.stop.
    }
    return FileState.MISSING;
  }

  private FileState state(Object found) throws Throwable {
    if (((int) mode.invokeExact(found) & KIND) != REGULAR) {
      return FileState.MISSING;
    }
    return new FileState(
        (long) size.invokeExact(found),
        (long) modifiedSecond.invokeExact(found) * SECOND + (long) modifiedNano.invokeExact(found),
        (long) changedSecond.invokeExact(found) * SECOND + (long) changedNano.invokeExact(found),
        (long) device.invokeExact(found),
        (long) inode.invokeExact(found));
  }
}
