package io.coordl.cache;

import io.coordl.shared.Contents;
import io.coordl.shared.Liveness;
import java.io.IOException;
import java.nio.file.Path;

/** An arena as what a shared file holds. */
enum ArenaContents implements Contents<ArenaMemory> {
  HERE;

  private static final Header HEADER =
      new Header(
          ArenaDescriptor.MAGIC_VALUE,
          ArenaDescriptor.VERSION_VALUE,
          ArenaDescriptor.LAYOUT_VALUE,
          ArenaDescriptor.HEADER_BYTES);

  @Override
  public String suffix() {
    return ".arena";
  }

  @Override
  public String noun() {
    return "store";
  }

  @Override
  public String without() {
    return "nothing is cached";
  }

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
  public void format(ArenaMemory memory, long user) throws IOException {
    ArenaStore.format(memory, user);
  }

  @Override
  public long nextJob(ArenaMemory memory, Path path) throws IOException {
    long job = memory.getAndAdd(Header.JOBS, 1) + 1;
    if (job > ArenaDescriptor.MAX_JOB) {
      throw new IOException("The store " + path + " has been joined too often.");
    }
    return job;
  }

  @Override
  public void enter(ArenaMemory memory, long job, Liveness liveness, Path path) {
    // A job is known by the claims it makes.
  }
}
