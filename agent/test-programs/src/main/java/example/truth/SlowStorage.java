package example.truth;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.spi.FileSystemProvider;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Storage with a known rate: a directory of in-memory files, read as if by a single device, one
 * file at a time and each in a known time, for any number of threads. There is no page cache.
 * Thread-safe.
 */
final class SlowStorage extends FileSystemProvider {
  /** Bytes of every file. */
  static final int BYTES = 1_000;

  private final int files;
  private final long readNanos;
  private final SlowPath.Tree system = new SlowPath.Tree(this);
  private final ThreadLocal<long[]> waited = ThreadLocal.withInitial(() -> new long[1]);
  private long freeAt;

  /** Creates a directory of {@code files} files; reading one takes {@code readMillis}. */
  SlowStorage(int files, long readMillis) {
    this.files = files;
    this.readNanos = readMillis * 1_000_000;
  }

  /** Returns the file with this number. */
  Path file(int number) {
    return new SlowPath(system, "/data/" + number + ".bin");
  }

  private int number(Path path) throws NoSuchFileException {
    String name = path.toString();
    if (name.matches("/data/\\d{1,8}\\.bin")) {
      int number = Integer.parseInt(name.substring(6, name.length() - 4));
      if (number < files) {
        return number;
      }
    }
    throw new NoSuchFileException(name);
  }

  /**
   * Waits until the device has served this read, which starts right after the earlier ones. The
   * device never idles while a read waits, so late wake-ups do not add up.
   */
  private void read() {
    long begin = Pause.now();
    long end;
    synchronized (this) {
      freeAt = Math.max(freeAt, begin) + readNanos;
      end = freeAt;
    }
    Pause.until(end);
    waited.get()[0] += end - begin;
  }

  /**
   * Returns the nanoseconds that this thread's reads should have taken so far, queueing included.
   */
  long waited() {
    return waited.get()[0];
  }

  @Override
  public String getScheme() {
    return "slow";
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return new Channel(number(path));
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) {
    List<Path> all = IntStream.range(0, files).mapToObj(this::file).toList();
    return new DirectoryStream<>() {
      @Override
      public Iterator<Path> iterator() {
        return all.iterator();
      }

      @Override
      public void close() {}
    };
  }

  @Override
  @SuppressWarnings("unchecked") // Callers request BasicFileAttributes.
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    boolean directory = path.toString().equals("/data");
    if (!directory) {
      number(path);
    }
    return (A) new Attributes(directory);
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    number(path);
  }

  @Override
  public boolean isSameFile(Path path, Path other) {
    return path.equals(other);
  }

  @Override
  public boolean isHidden(Path path) {
    return false;
  }

  /**
   * Reads a file whose bytes all equal its number; the first read takes the time of the whole file.
   */
  private final class Channel implements SeekableByteChannel {
    private final int number;
    private boolean wasRead;
    private int position;
    private boolean open = true;

    Channel(int number) {
      this.number = number;
    }

    @Override
    public int read(ByteBuffer target) {
      if (!wasRead) {
        wasRead = true;
        SlowStorage.this.read();
      }
      if (position >= BYTES) {
        return -1;
      }
      int count = Math.min(target.remaining(), BYTES - position);
      for (int i = 0; i < count; i++) {
        target.put((byte) number);
      }
      position += count;
      return count;
    }

    @Override
    public long position() {
      return position;
    }

    @Override
    public SeekableByteChannel position(long to) {
      position = (int) Math.min(to, BYTES);
      return this;
    }

    @Override
    public long size() {
      return BYTES;
    }

    @Override
    public boolean isOpen() {
      return open;
    }

    @Override
    public void close() {
      open = false;
    }

    @Override
    public int write(ByteBuffer source) {
      throw new UnsupportedOperationException("This storage is read-only.");
    }

    @Override
    public SeekableByteChannel truncate(long size) {
      throw new UnsupportedOperationException("This storage is read-only.");
    }
  }

  private record Attributes(boolean isDirectory) implements BasicFileAttributes {
    @Override
    public FileTime lastModifiedTime() {
      return FileTime.fromMillis(1);
    }

    @Override
    public FileTime lastAccessTime() {
      return FileTime.fromMillis(1);
    }

    @Override
    public FileTime creationTime() {
      return FileTime.fromMillis(1);
    }

    @Override
    public boolean isRegularFile() {
      return !isDirectory;
    }

    @Override
    public boolean isSymbolicLink() {
      return false;
    }

    @Override
    public boolean isOther() {
      return false;
    }

    @Override
    public long size() {
      return BYTES;
    }

    @Override
    public Object fileKey() {
      return null;
    }
  }

  private static UnsupportedOperationException unsupported() {
    return new UnsupportedOperationException("This storage is read-only.");
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
    throw unsupported();
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    return system;
  }

  @Override
  public Path getPath(URI uri) {
    return new SlowPath(system, uri.getPath());
  }

  @Override
  public void createDirectory(Path directory, FileAttribute<?>... attributes) {
    throw unsupported();
  }

  @Override
  public void delete(Path path) {
    throw unsupported();
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) {
    throw unsupported();
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) {
    throw unsupported();
  }

  @Override
  public FileStore getFileStore(Path path) {
    throw unsupported();
  }

  @Override
  public <V extends FileAttributeView> V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return null;
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String names, LinkOption... options) {
    throw unsupported();
  }

  @Override
  public void setAttribute(Path path, String name, Object value, LinkOption... options) {
    throw unsupported();
  }
}
