package io.coordl.transformers.callsite;

import io.coordl.bridge.ItemSource;
import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An item source without a store: every regular file is an item, served in one mode. Observed items
 * are not checked for existence.
 */
class FakeItems implements ItemSource {
  /** The ways to serve items. */
  enum Mode {
    NONE,
    OBSERVED,
    CONTENT,
    BLOCKS,
    /** Claims to serve, then fails. */
    FAULTY
  }

  private static final int BLOCK = 700;

  final AtomicInteger opened = new AtomicInteger();
  final AtomicInteger released = new AtomicInteger();
  private final Mode mode;

  FakeItems(Mode mode) {
    this.mode = mode;
  }

  @Override
  public OpenItem open(String name) {
    Path path = Path.of(name);
    if (mode == Mode.OBSERVED) {
      opened.incrementAndGet();
      return new FakeItem(name, new byte[0]);
    }
    if (mode == Mode.NONE || !Files.isRegularFile(path) || !Files.isReadable(path)) {
      return null;
    }
    try {
      byte[] bytes = Files.readAllBytes(path);
      opened.incrementAndGet();
      return new FakeItem(name, bytes);
    } catch (IOException e) {
      return null;
    }
  }

  @Override
  public void mapsToWrite(java.nio.channels.FileChannel channel) {}

  @Override
  public boolean takesOpened(String path) {
    return false;
  }

  @Override
  public OpenItem openOpened(String path, FileDescriptor opened) {
    return null;
  }

  @Override
  public OpenItem openRandomAccess(String path) {
    return Files.isRegularFile(Path.of(path)) ? open(path) : null;
  }

  @Override
  public io.coordl.bridge.OpenItem openForeign(java.nio.file.Path path) {
    return null;
  }

  private final class FakeItem extends OpenItem {
    private final byte[] bytes;

    FakeItem(String path, byte[] bytes) {
      super(path, mode == Mode.OBSERVED ? UNKNOWN_SIZE : bytes.length);
      this.bytes = bytes;
    }

    @Override
    public Origin origin() {
      return served() ? Origin.MEMORY : Origin.STORAGE;
    }

    @Override
    public ByteBuffer content() {
      return mode == Mode.CONTENT
          ? ByteBuffer.allocateDirect(bytes.length).put(bytes).flip().asReadOnlyBuffer()
          : null;
    }

    @Override
    public boolean served() {
      return mode != Mode.OBSERVED;
    }

    @Override
    public int read(long position, byte[] target, int offset, int length) {
      if (mode == Mode.FAULTY) {
        throw new IllegalStateException("a fault of ours");
      }
      if (position >= bytes.length) {
        return -1;
      }
      int at = (int) position;
      int count = Math.min(Math.min(length, bytes.length - at), BLOCK - at % BLOCK);
      System.arraycopy(bytes, at, target, offset, count);
      return count;
    }

    @Override
    protected void release() {
      released.incrementAndGet();
    }
  }
}
