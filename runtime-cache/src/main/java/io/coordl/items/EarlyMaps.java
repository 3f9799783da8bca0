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
 * The item source until the agent installs another: serves no items, but records the files that the
 * program maps for writing. A mapping outlives its channel, so the program may still write through
 * it once a cache exists.
 */
public final class EarlyMaps implements ItemSource {
  /** Device and inode of each mapped file. */
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
