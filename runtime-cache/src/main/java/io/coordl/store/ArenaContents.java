package io.coordl.store;

import io.coordl.host.Contents;
import io.coordl.host.Liveness;
import java.io.IOException;
import java.nio.file.Path;

/** The contents of a shared file that is an arena. Each claim contains the number of its job. */
enum ArenaContents implements Contents<ArenaMemory> {
  HERE;

  private static final Header HEADER =
      new Header(
          ".arena",
          "store",
          "nothing is cached",
          ArenaDescriptor.MAGIC_VALUE,
          ArenaDescriptor.VERSION_VALUE,
          ArenaDescriptor.LAYOUT_VALUE,
          ArenaDescriptor.HEADER_BYTES);

  @Override
  public Header header() {
    return HEADER;
  }

  @Override
  public long minimum() {
    return ArenaStore.MIN_CAPACITY;
  }

  @Override
  public ArenaMemory map(Path path, long bytes) throws IOException {
    return MappedMemory.map(path, bytes);
  }

  @Override
  public void enter(ArenaMemory memory, long job, Liveness liveness, Path path) throws IOException {
    if (memory.get(ArenaDescriptor.GIVEN_BACK) != 0) {
      throw new IOException(
          "The store " + path + " is being given back, since memory is short: nothing is cached.");
    }
  }

  @Override
  public void format(ArenaMemory memory) throws IOException {
    ArenaStore.format(memory);
  }
}
