package io.coordl.cache;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;

/** A file of the default file system. */
record LocalFile(ItemFile file, DirectReads storage) implements StoredFile {
  @Override
  public String name() {
    return file.path();
  }

  @Override
  public long size() {
    return file.size();
  }

  @Override
  public ItemKey key() {
    return file.key();
  }

  @Override
  public boolean read(byte[] target, int offset) throws IOException {
    return storage.read(file, target, offset);
  }

  @Override
  public boolean unchanged() {
    return file.unchanged();
  }

  @Override
  public boolean grown() {
    return file.grown();
  }

  @Override
  public RandomAccessFile reopen(ByteBuffer content) throws IOException {
    return file.reopen(content);
  }
}
