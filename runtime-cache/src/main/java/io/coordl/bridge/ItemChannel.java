package io.coordl.bridge;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A read-only {@link FileChannel} that the runtime serves; for an item that is only observed, it
 * times the reads of the program's own channel. If the whole item is in memory, the file is opened
 * only when an operation needs it, such as a lock or a read past the cached bytes.
 *
 * <p>It is interruptible like the JDK's channel: an operation on an interrupted thread closes it,
 * and if an interrupt closes the file's channel, this channel closes, too.
 */
final class ItemChannel extends FileChannel {
  private static final int TRANSFER = 1 << 13;

  private final ItemCursor cursor;
  private final Object positionLock = new Object();
  private volatile boolean served;
  private volatile @Nullable FileChannel file;

  /**
   * Creates a channel over the runtime's bytes or, if {@code own} is given, over the program's
   * channel.
   */
  ItemChannel(ItemCursor cursor, @Nullable FileChannel own) {
    this.cursor = cursor;
    this.served = own == null;
    this.file = own;
  }

  /**
   * Returns the channel over the real file, opened on first use; its position is meaningless while
   * {@link #served} is true.
   */
  FileChannel file() throws IOException {
    checkOpen();
    FileChannel opened = file;
    if (opened == null) {
      synchronized (positionLock) {
        opened = file;
        if (opened == null) {
          opened = cursor.file().getChannel();
          file = opened;
        }
      }
    }
    return opened;
  }

  private void checkOpen() throws IOException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
  }

  /** Closes the channel if the thread is interrupted, as the JDK's methods do at their start. */
  private void obeyInterrupt() throws IOException {
    checkOpen();
    try {
      begin();
    } finally {
      end(true);
    }
  }

  /**
   * Returns {@code failure}, to be thrown; if an interrupt closed the file's channel, closes this
   * one, too.
   */
  private IOException propagated(IOException failure) throws IOException {
    FileChannel own = file;
    if (own != null && !own.isOpen()) {
      close();
    }
    return failure;
  }

  @Override
  public int read(ByteBuffer dst) throws IOException {
    Objects.requireNonNull(dst);
    checkOpen();
    if (dst.isReadOnly()) {
      throw new IllegalArgumentException("Read-only buffer");
    }
    synchronized (positionLock) {
      if (served) {
        int count = readServed(dst, cursor.position());
        if (count >= 0 || !cursor.grown()) {
          cursor.position(cursor.position() + Math.max(0, count));
          return count;
        }
        file().position(cursor.position());
        served = false;
      }
      return readObserved(dst, -1);
    }
  }

  @Override
  public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, dsts.length);
    checkOpen();
    synchronized (positionLock) {
      obeyInterrupt();
      long total = 0;
      for (int i = offset; i < offset + length; i++) {
        if (!dsts[i].hasRemaining()) {
          continue;
        }
        int count = read(dsts[i]);
        if (count < 0) {
          return total > 0 ? total : -1;
        }
        total += count;
        if (dsts[i].hasRemaining()) {
          break;
        }
      }
      return total;
    }
  }

  @Override
  public int read(ByteBuffer dst, long position) throws IOException {
    Objects.requireNonNull(dst);
    if (position < 0) {
      throw new IllegalArgumentException("Negative position");
    }
    checkOpen();
    if (dst.isReadOnly()) {
      throw new IllegalArgumentException("Read-only buffer");
    }
    if (served) {
      int count = readServed(dst, position);
      if (count >= 0 || !cursor.grown()) {
        return count;
      }
      file();
    }
    return readObserved(dst, position);
  }

  /** Reads from the runtime without moving the position; obeys an interrupt. */
  private int readServed(ByteBuffer dst, long position) throws IOException {
    int count = 0;
    try {
      begin();
      if (isOpen()) {
        count = cursor.readAt(position, dst);
      }
      return count;
    } finally {
      end(count > 0);
    }
  }

  /** Reads from the file; a negative {@code position} means the channel's own position. */
  private int readObserved(ByteBuffer dst, long position) throws IOException {
    FileChannel own = file();
    long start = System.nanoTime();
    try {
      int count = position < 0 ? own.read(dst) : own.read(dst, position);
      cursor.fetched(start, count);
      return count;
    } catch (IOException e) {
      throw propagated(e);
    }
  }

  @Override
  public long position() throws IOException {
    obeyInterrupt();
    synchronized (positionLock) {
      return served ? cursor.position() : file().position();
    }
  }

  @Override
  public FileChannel position(long newPosition) throws IOException {
    checkOpen();
    if (newPosition < 0) {
      throw new IllegalArgumentException();
    }
    obeyInterrupt();
    synchronized (positionLock) {
      if (served) {
        cursor.position(newPosition);
      } else {
        file().position(newPosition);
      }
    }
    return this;
  }

  @Override
  public long size() throws IOException {
    obeyInterrupt();
    if (file == null && !cursor.grown()) {
      return cursor.size;
    }
    try {
      return file().size();
    } catch (IOException e) {
      throw propagated(e);
    }
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    checkOpen();
    if (!target.isOpen()) {
      throw new ClosedChannelException();
    }
    if (target instanceof FileChannel file && isBuiltIn(file)) {
      // Throws if the target is not writable, as the JDK does first.
      file.write(ByteBuffer.allocate(0));
    }
    if (position < 0 || count < 0) {
      throw new IllegalArgumentException();
    }
    obeyInterrupt();
    if (!served) {
      return transferFromFile(position, count, target);
    }
    ByteBuffer buffer = ByteBuffer.allocate(TRANSFER);
    long done = 0;
    while (done < count) {
      buffer.clear().limit((int) Math.min(TRANSFER, count - done));
      if (readServed(buffer, position + done) < 0) {
        return cursor.grown()
            ? done + transferFromFile(position + done, count - done, target)
            : done;
      }
      buffer.flip();
      int length = buffer.remaining();
      int written = target.write(buffer);
      done += written;
      if (written < length) {
        break;
      }
    }
    return done;
  }

  /**
   * Whether the channel is the JDK's or an {@code ItemChannel}; other channels must receive only
   * real writes.
   */
  private static boolean isBuiltIn(FileChannel channel) {
    return channel instanceof ItemChannel || channel.getClass().getClassLoader() == null;
  }

  private long transferFromFile(long position, long count, WritableByteChannel target)
      throws IOException {
    try {
      return file().transferTo(position, count, target);
    } catch (IOException e) {
      throw propagated(e);
    }
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long position, long size) throws IOException {
    checkOpen();
    if (mode == MapMode.READ_ONLY) {
      obeyInterrupt();
    }
    long start = System.nanoTime();
    ByteBuffer content = served && mode == MapMode.READ_ONLY ? cursor.fetchContent() : null;
    if (content instanceof MappedByteBuffer
        && content.isReadOnly()
        && position >= 0
        && size >= 0
        && position <= content.capacity() - size) {
      MappedByteBuffer mapped = (MappedByteBuffer) content.slice((int) position, (int) size);
      cursor.fetched(start, size);
      return mapped;
    }
    try {
      return file().map(mode, position, size);
    } catch (IOException e) {
      throw propagated(e);
    }
  }

  @Override
  public FileLock lock(long position, long size, boolean shared) throws IOException {
    try {
      return file().lock(position, size, shared);
    } catch (IOException e) {
      throw propagated(e);
    }
  }

  @Override
  public @Nullable FileLock tryLock(long position, long size, boolean shared) throws IOException {
    try {
      return file().tryLock(position, size, shared);
    } catch (IOException e) {
      throw propagated(e);
    }
  }

  @Override
  public void force(boolean metaData) throws IOException {
    obeyInterrupt();
  }

  @Override
  public int write(ByteBuffer src) throws IOException {
    throw notWritable();
  }

  @Override
  public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
    throw notWritable();
  }

  @Override
  public int write(ByteBuffer src, long position) throws IOException {
    throw notWritable();
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    throw notWritable();
  }

  @Override
  public long transferFrom(ReadableByteChannel src, long position, long count) throws IOException {
    throw notWritable();
  }

  private NonWritableChannelException notWritable() throws IOException {
    checkOpen();
    return new NonWritableChannelException();
  }

  @Override
  protected void implCloseChannel() throws IOException {
    FileChannel own = file;
    try {
      if (own != null) {
        own.close();
      }
    } finally {
      cursor.close();
    }
  }
}
