package io.coordl.items;

import io.coordl.bridge.ItemSource;
import io.coordl.bridge.OpenItem;
import java.io.FileDescriptor;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The source of items until the agent has one: returns none, and records the files that the program
 * maps writable. A mapping outlives its channel, and the program may write through it after a cache
 * exists.
 */
public final class EarlyMaps implements ItemSource {
  /** Device and inode of each. */
  final Set<List<Long>> files = ConcurrentHashMap.newKeySet();

  @Override
  public void mapsToWrite(FileChannel channel) {
    ItemNames.add(FileState.of(channel), files);
  }

  @Override
  public @Nullable OpenItem open(String path) {
    return null;
  }

  @Override
  public @Nullable OpenItem openRandomAccess(String path) {
    return null;
  }

  @Override
  public boolean takesOpened(String path) {
    return false;
  }

  @Override
  public @Nullable OpenItem openOpened(String path, FileDescriptor opened) {
    return null;
  }

  @Override
  public @Nullable OpenItem openForeign(Path path) {
    return null;
  }
}
