package io.coordl.store;

import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import io.coordl.items.StoredFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** An item whose bytes are all in memory; without content, an item that is only observed. */
final class WholeItem extends OpenItem {
  private final StoredFile file;
  private final @Nullable ByteBuffer content;
  private final Origin origin;

  /**
   * @param content all bytes; null if the program's own stream reads
   * @param origin where the bytes were before this open
   */
  WholeItem(String path, StoredFile file, @Nullable ByteBuffer content, Origin origin) {
    super(path, file.size());
    this.file = file;
    this.content = content;
    this.origin = origin;
  }

  @Override
  public @Nullable ByteBuffer content() {
    return content == null ? null : content.asReadOnlyBuffer();
  }

  @Override
  public boolean served() {
    return content != null;
  }

  @Override
  public int read(long position, byte[] target, int offset, int length) throws IOException {
    ByteBuffer bytes = content;
    if (bytes == null) {
      return super.read(position, target, offset, length);
    }
    if (length == 0) {
      return 0;
    }
    if (position >= size()) {
      return -1;
    }
    int count = (int) Math.min(length, size() - position);
    bytes.get((int) position, target, offset, count);
    return count;
  }

  @Override
  public boolean grown() {
    return file.grown();
  }

  @Override
  public boolean unchanged() {
    return file.unchanged();
  }

  @Override
  public RandomAccessFile file() throws IOException {
    ByteBuffer bytes = content;
    return bytes == null ? super.file() : file.reopen(bytes);
  }

  @Override
  public Origin origin() {
    return origin;
  }
}
