package io.coordl.cache;

import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** An item of a profiled job: whole at hand, or read by the program's own stream. */
final class ProfiledItem extends OpenItem {
  private final StoredFile file;
  private final @Nullable ByteBuffer content;
  private final Origin origin;

  /**
   * An opened item.
   *
   * @param content all bytes; null if the program's own stream is to read
   * @param origin where they were before this opening
   */
  ProfiledItem(String path, StoredFile file, @Nullable ByteBuffer content, Origin origin) {
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
  public int read(long position, byte[] target, int offset, int length) {
    throw new IllegalStateException("an item that is whole at hand is copied from its content");
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

  @Override
  protected void release() {}
}
