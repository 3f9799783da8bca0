package io.coordl.bridge;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A {@link FileInputStream} that opens no file itself: the runtime serves its reads. When the
 * program requests its channel or descriptor, or reads past the cached bytes of a file that has
 * grown, the real file is opened at the same position and takes over.
 *
 * <p>Its own descriptor is closed, so after {@link #close} each JDK method fails exactly as on a
 * closed stream.
 *
 * <p>Threads that share the stream read each byte once, as from the kernel. Closing does not wait
 * for readers.
 */
final class ItemFileInputStream extends FileInputStream {
  private static final int TRANSFER = 1 << 14;

  private final ItemCursor cursor;

  /** Guards the position; acquired before this stream's monitor, which guards the close. */
  private final Object positionLock = new Object();

  private volatile boolean closed;
  private volatile @Nullable FileInputStream real;

  private ItemFileInputStream(ItemCursor cursor) {
    super(new FileDescriptor());
    this.cursor = cursor;
  }

  /**
   * Creates a stream with the agent's permissions: a security manager would check the use of a
   * descriptor, which the program did not request. The program may read the file; otherwise the
   * open would have failed.
   */
  @SuppressWarnings("removal")
  static ItemFileInputStream of(ItemCursor cursor) {
    try {
      return new ItemFileInputStream(cursor);
    } catch (SecurityException e) {
      PrivilegedAction<ItemFileInputStream> make = () -> new ItemFileInputStream(cursor);
      return AccessController.doPrivileged(make);
    }
  }

  @SuppressWarnings("removal")
  private static FileInputStream over(FileDescriptor descriptor, ItemCursor cursor) {
    try {
      return new ObservedFileInputStream(descriptor, cursor);
    } catch (SecurityException e) {
      PrivilegedAction<FileInputStream> make =
          () -> new ObservedFileInputStream(descriptor, cursor);
      return AccessController.doPrivileged(make);
    }
  }

  /**
   * Returns the stream over the real file, at this stream's position; it serves all reads from now
   * on. Null if this stream is closed and never opened the file.
   */
  @Nullable FileInputStream real() throws IOException {
    synchronized (positionLock) {
      synchronized (this) {
        if (real == null && !closed) {
          RandomAccessFile file = cursor.file();
          file.seek(cursor.position());
          real = over(file.getFD(), cursor);
        }
        return real;
      }
    }
  }

  @Override
  public int read() throws IOException {
    FileInputStream file;
    synchronized (positionLock) {
      file = real;
      if (file == null && !closed) {
        int value = cursor.read();
        if (value >= 0 || !cursor.grown()) {
          return value;
        }
        file = real();
      }
    }
    return file != null ? file.read() : super.read();
  }

  @Override
  public int read(byte[] b) throws IOException {
    return read(b, 0, b.length);
  }

  @Override
  public int read(byte[] b, int off, int len) throws IOException {
    FileInputStream file;
    synchronized (positionLock) {
      file = real;
      if (file == null) {
        if ((off | len) < 0 || len > b.length - off) {
          throw new IndexOutOfBoundsException();
        }
        if (len == 0) {
          return 0; // Even when closed, like the JDK's class.
        }
        if (!closed) {
          int count = cursor.read(b, off, len);
          if (count >= 0 || !cursor.grown()) {
            return count;
          }
          file = real();
        }
      }
    }
    return file != null ? file.read(b, off, len) : super.read(b, off, len);
  }

  @Override
  public byte[] readAllBytes() throws IOException {
    FileInputStream file;
    byte[] rest = new byte[0];
    synchronized (positionLock) {
      file = real;
      if (file == null && !closed) {
        if (!cursor.restFitsArray()) {
          try (FileInputStream named = new FileInputStream(cursor.path())) {
            named.skip(cursor.position());
            // Throws an error that names the file, which real() cannot.
            return named.readAllBytes();
          }
        }
        rest = cursor.readRest(Integer.MAX_VALUE - 8);
        if (!cursor.grown()) {
          return rest;
        }
        file = real();
      }
    }
    return file != null ? concat(rest, file.readAllBytes()) : super.readAllBytes();
  }

  @Override
  public byte[] readNBytes(int len) throws IOException {
    FileInputStream file;
    byte[] rest = new byte[0];
    synchronized (positionLock) {
      file = real;
      if (file == null) {
        if (len < 0) {
          throw new IllegalArgumentException("len < 0");
        }
        if (len == 0) {
          return new byte[0];
        }
        if (!closed) {
          rest = cursor.readRest(len);
          if (rest.length == len || !cursor.grown()) {
            return rest;
          }
          file = real();
        }
      }
    }
    return file != null ? concat(rest, file.readNBytes(len - rest.length)) : super.readNBytes(len);
  }

  private static byte[] concat(byte[] first, byte[] second) {
    if (first.length == 0) {
      return second;
    }
    byte[] both = Arrays.copyOf(first, Math.addExact(first.length, second.length));
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  @Override
  public long transferTo(OutputStream out) throws IOException {
    Objects.requireNonNull(out, "out");
    byte[] buffer = new byte[TRANSFER];
    long transferred = 0;
    for (int count = read(buffer, 0, TRANSFER); count >= 0; count = read(buffer, 0, TRANSFER)) {
      out.write(buffer, 0, count);
      transferred += count;
    }
    return transferred;
  }

  @Override
  public long skip(long n) throws IOException {
    FileInputStream file;
    synchronized (positionLock) {
      file = real;
      if (file == null && !closed) {
        long target = cursor.position() + n;
        if (target < 0) {
          throw new IOException("Invalid argument"); // As lseek reports it.
        }
        cursor.position(target);
        return n;
      }
    }
    return file != null ? file.skip(n) : super.skip(n);
  }

  /** Like {@link #skip}, but stays between start and end; ignores interrupts. */
  long skipWithin(long n) throws IOException {
    synchronized (positionLock) {
      if (real == null && n > cursor.size - cursor.position() && cursor.grown()) {
        real();
      }
      RandomAccessFile file = real == null ? null : cursor.file();
      long position = file == null ? cursor.position() : file.getFilePointer();
      long end = Math.max(position, file == null ? cursor.size : file.length());
      return skip(Math.max(-position, Math.min(n, end - position)));
    }
  }

  @Override
  public int available() throws IOException {
    FileInputStream file;
    synchronized (positionLock) {
      file = real;
      if (file == null && !closed) {
        long rest = cursor.size - cursor.position();
        if (rest > 0 || !cursor.grown()) {
          return (int) Math.max(0, Math.min(Integer.MAX_VALUE, rest));
        }
        file = real();
      }
    }
    return file != null ? file.available() : super.available();
  }

  /**
   * {@inheritDoc}
   *
   * @throws UncheckedIOException if the file, which was served from memory, can no longer be opened
   */
  @Override
  public FileChannel getChannel() {
    try {
      FileInputStream file = real();
      if (file != null) {
        return file.getChannel();
      }
      super.close(); // So that the channel is closed, too.
      return super.getChannel();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    FileInputStream file;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      file = real;
    }
    if (file != null) {
      file.close();
    }
    cursor.close();
  }
}
