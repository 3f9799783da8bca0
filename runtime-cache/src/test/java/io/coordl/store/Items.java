package io.coordl.store;

import io.coordl.host.Machine;
import io.coordl.host.SharedFile;
import io.coordl.items.ItemKey;
import io.coordl.items.ItemNames;
import io.coordl.telemetry.log.UserLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/** Items whose content is derived from their number, so that any reader can check it. */
public final class Items {
  private Items() {}

  /** Opens a group's store; waits a while if another job holds the store's lock. */
  static ArenaStore openHost(Path directory, String group, LongSupplier capacity, UserLog log)
      throws IOException {
    long user = Machine.user();
    SharedFile.sweep(directory, user, ArenaContents.HERE, log);
    Path path = SharedFile.path(directory, user, group, ArenaContents.HERE);
    SharedFile<ArenaMemory> shared =
        new SharedFile.Opening<>(path, user, ArenaContents.HERE, capacity, log)
            .within(SharedFile.PATIENCE);
    return new ArenaStore(
        shared.memory(), shared, shared.job(), shared.liveness()::alive, group, log);
  }

  static ItemKey key(long number) {
    return ItemKey.of("/data/" + number, length(number), 0, ItemKey.WHOLE);
  }

  static int length(long number) {
    return (int) (1000 + number * 7919 % 60_000);
  }

  static byte[] content(long number) {
    byte[] bytes = new byte[length(number)];
    new SplittableRandom(number).nextBytes(bytes);
    return bytes;
  }

  static Loader loader(long number) {
    return (target, offset) -> {
      byte[] bytes = content(number);
      System.arraycopy(bytes, 0, target, offset, bytes.length);
      return true;
    };
  }

  public static byte[] bytes(ByteBuffer view) {
    byte[] bytes = new byte[view.remaining()];
    view.duplicate().get(bytes);
    return bytes;
  }

  public static Path file(Path directory, String name, int length) throws IOException {
    byte[] bytes = new byte[length];
    new SplittableRandom(name.hashCode()).nextBytes(bytes);
    return Files.write(directory.resolve(name), bytes);
  }

  /** Returns the number of this process's descriptors of the file. */
  static long descriptors(Path file) throws IOException {
    String name = file.toRealPath().toString();
    long count = 0;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path one : all) {
        try {
          count += Files.readSymbolicLink(one).toString().equals(name) ? 1 : 0;
        } catch (NoSuchFileException e) {
          // Just closed.
        }
      }
    }
    return count;
  }

  /** Returns once the file system's coarse clock is past the file's change time. */
  public static void laterThan(Path file) throws IOException {
    Path probe = Files.createTempFile(file.toRealPath().getParent(), "later", "");
    while (ItemNames.changedNanos(probe) <= ItemNames.changedNanos(file)) {
      Files.setLastModifiedTime(probe, FileTime.fromMillis(0));
    }
    Files.delete(probe);
  }
}
