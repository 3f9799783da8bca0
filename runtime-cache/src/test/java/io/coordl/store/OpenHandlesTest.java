package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An open item reads the file that was opened, even if another file has taken its name. File
 * systems may reuse the inode of a replaced file that no process has open.
 */
class OpenHandlesTest {
  private static final int SIZE = 3000;
  private static final int FIRST = 1500;

  @TempDir Path directory;
  @TempDir Path arena;
  private ArenaStore store;
  private int files;

  /** An open file from which a program continues to read. */
  private interface Handle extends Closeable {
    /** Reads {@code length} bytes, fewer only at the end. */
    byte[] read(int length) throws IOException;

    /** Returns the size that the handle reports, -1 if none. */
    default long size() throws IOException {
      return -1;
    }
  }

  /** Ways to hold a file open; {@link #open} makes the calls that the agent substitutes. */
  private enum Kind {
    FILE_INPUT_STREAM {
      @Override
      Handle open(Path path) throws IOException {
        return of(FileReads.newFileInputStream(path.toFile()));
      }
    },
    CHANNEL_OF_THE_STREAM {
      @Override
      Handle open(Path path) throws IOException {
        FileInputStream stream = FileReads.newFileInputStream(path.toFile());
        return new Handle() {
          private boolean started;

          @Override
          public byte[] read(int length) throws IOException {
            if (!started) {
              started = true;
              return stream.readNBytes(length);
            }
            return readFrom(stream.getChannel(), length);
          }

          @Override
          public void close() throws IOException {
            stream.close();
          }
        };
      }
    },
    DESCRIPTOR_OF_THE_STREAM {
      @Override
      Handle open(Path path) throws IOException {
        FileInputStream stream = FileReads.newFileInputStream(path.toFile());
        return new Handle() {
          private boolean started;

          @Override
          public byte[] read(int length) throws IOException {
            if (!started) {
              started = true;
              return stream.readNBytes(length);
            }
            @SuppressWarnings("resource") // Shares the descriptor, which the stream closes.
            FileInputStream same = new FileInputStream(FileReads.getFD(stream));
            return same.readNBytes(length);
          }

          @Override
          public void close() throws IOException {
            stream.close();
          }
        };
      }
    },
    PATH_STREAM {
      @Override
      Handle open(Path path) throws IOException {
        return of(FileReads.newInputStream(path));
      }
    },
    RANDOM_ACCESS_FILE {
      @Override
      Handle open(Path path) throws IOException {
        RandomAccessFile file = FileReads.newRandomAccessFile(path.toFile(), "r");
        return new Handle() {
          @Override
          public byte[] read(int length) throws IOException {
            byte[] bytes = new byte[length];
            int done = 0;
            for (int count = 0; count >= 0 && done < length; done += Math.max(0, count)) {
              count = file.read(bytes, done, length - done);
            }
            return Arrays.copyOf(bytes, done);
          }

          @Override
          public long size() throws IOException {
            return file.length();
          }

          @Override
          public void close() throws IOException {
            file.close();
          }
        };
      }
    },
    CHANNEL {
      @Override
      Handle open(Path path) throws IOException {
        return of(FileReads.open(path));
      }
    },
    BYTE_CHANNEL {
      @Override
      Handle open(Path path) throws IOException {
        return of(FileReads.newByteChannel(path));
      }
    },
    POSITIONAL {
      @Override
      Handle open(Path path) throws IOException {
        FileChannel channel = FileReads.open(path);
        return new Handle() {
          private int position;

          @Override
          public byte[] read(int length) throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate(length);
            while (bytes.hasRemaining()
                && channel.read(bytes, (long) position + bytes.position()) >= 0) {}
            position += bytes.position();
            return Items.bytes(bytes.flip());
          }

          @Override
          public long size() throws IOException {
            return channel.size();
          }

          @Override
          public void close() throws IOException {
            channel.close();
          }
        };
      }
    },
    MAPPED {
      @Override
      Handle open(Path path) throws IOException {
        FileChannel channel = FileReads.open(path);
        return new Handle() {
          private int position;

          @Override
          public byte[] read(int length) throws IOException {
            int there = (int) Math.max(0, Math.min(length, channel.size() - position));
            if (there == 0) {
              return new byte[0];
            }
            position += there;
            return Items.bytes(channel.map(MapMode.READ_ONLY, position - there, there));
          }

          @Override
          public long size() throws IOException {
            return channel.size();
          }

          @Override
          public void close() throws IOException {
            channel.close();
          }
        };
      }
    };

    abstract Handle open(Path path) throws IOException;

    private static Handle of(InputStream stream) {
      return new Handle() {
        @Override
        public byte[] read(int length) throws IOException {
          return stream.readNBytes(length);
        }

        @Override
        public void close() throws IOException {
          stream.close();
        }
      };
    }

    private static Handle of(SeekableByteChannel channel) {
      return new Handle() {
        @Override
        public byte[] read(int length) throws IOException {
          return readFrom(channel, length);
        }

        @Override
        public long size() throws IOException {
          return channel.size();
        }

        @Override
        public void close() throws IOException {
          channel.close();
        }
      };
    }

    private static byte[] readFrom(SeekableByteChannel channel, int length) throws IOException {
      ByteBuffer bytes = ByteBuffer.allocate(length);
      while (bytes.hasRemaining() && channel.read(bytes) >= 0) {}
      return Items.bytes(bytes.flip());
    }
  }

  /** The store's state when the file is opened. */
  private enum Stored {
    ALL,
    NOTHING,
    NO_ROOM
  }

  private void install(Stored stored) {
    store = ArenaStore.openProcess(arena, ByteBudget.parse("8m"), line -> {});
    if (stored == Stored.NO_ROOM) {
      store.measureBy(before -> true);
    }
    Bridge.install(SpanSink.NONE, new MinioCache(store, path -> true), FaultListener.NONE);
  }

  @AfterEach
  void uninstall() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    if (store != null) {
      store.close();
    }
  }

  private byte[] random(int length) {
    byte[] bytes = new byte[length];
    new SplittableRandom(files++).nextBytes(bytes);
    return bytes;
  }

  /** Replaces the file by renames until the path has its old inode again. */
  private void replaceWithSameInode(Path path, int length) throws IOException {
    Object inode = Files.getAttribute(path, "unix:ino");
    for (int i = 0; i < 200; i++) {
      replace(path, length);
      if (Files.getAttribute(path, "unix:ino").equals(inode)) {
        return;
      }
    }
    System.out.println("skipped: the file system of " + directory + " does not reuse inodes");
    Assumptions.abort("the file system does not reuse inodes");
  }

  private byte[] replace(Path path, int length) throws IOException {
    byte[] bytes = random(length);
    Path other = Files.write(directory.resolve("other"), bytes);
    Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);
    return bytes;
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aFileReplacedWhileOpenIsReadToItsOwnEnd(Kind kind) throws IOException {
    for (Stored stored : Stored.values()) {
      install(stored);
      Path path = directory.resolve("item");
      byte[] old = Files.readAllBytes(Files.write(path, random(SIZE)));
      if (stored == Stored.ALL) {
        FileReads.readAllBytes(path);
      }
      try (Handle handle = kind.open(path)) {
        byte[] first = handle.read(FIRST);
        if (stored == Stored.ALL && kind != Kind.RANDOM_ACCESS_FILE) {
          replaceWithSameInode(path, SIZE + 100);
        } else {
          replace(path, SIZE + 100); // The handle keeps the old inode in use.
        }
        byte[] rest = handle.read(2 * SIZE);
        assertThat(joined(first, rest)).as("%s, %s in the store", kind, stored).isEqualTo(old);
        assertThat(handle.size()).isIn(-1L, (long) SIZE);
      }
      uninstall();
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aFileReplacedBeforeTheFirstReadIsReadAsOpened(Kind kind) throws IOException {
    for (Stored stored : Stored.values()) {
      install(stored);
      Path path = Files.write(directory.resolve("item"), random(SIZE));
      byte[] old = Files.readAllBytes(path);
      if (stored == Stored.ALL) {
        FileReads.readAllBytes(path);
      }
      try (Handle handle = kind.open(path)) {
        replace(path, SIZE + 100);
        replace(path, SIZE - 100);
        assertThat(handle.read(2 * SIZE)).as("%s, %s in the store", kind, stored).isEqualTo(old);
      }
      uninstall();
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aFileDeletedWhileOpenIsReadToItsEnd(Kind kind) throws IOException {
    for (Stored stored : Stored.values()) {
      install(stored);
      Path path = Files.write(directory.resolve("item"), random(SIZE));
      byte[] old = Files.readAllBytes(path);
      if (stored == Stored.ALL) {
        FileReads.readAllBytes(path);
      }
      try (Handle handle = kind.open(path)) {
        byte[] first = handle.read(FIRST);
        Files.delete(path);
        assertThat(joined(first, handle.read(2 * SIZE)))
            .as("%s, %s in the store", kind, stored)
            .isEqualTo(old);
      }
      uninstall();
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void bytesAppendedToAnOpenFileAreRead(Kind kind) throws IOException {
    for (Stored stored : Stored.values()) {
      install(stored);
      Path path = Files.write(directory.resolve("item"), random(SIZE));
      if (stored == Stored.ALL) {
        FileReads.readAllBytes(path);
      }
      try (Handle handle = kind.open(path)) {
        byte[] first = handle.read(SIZE);
        Files.write(path, random(100), StandardOpenOption.APPEND);
        assertThat(joined(first, handle.read(2 * SIZE)))
            .as("%s, %s in the store", kind, stored)
            .isEqualTo(Files.readAllBytes(path));
      }
      uninstall();
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aLargeFileReplacedWhileOpenIsReadToItsOwnEnd(Kind kind) throws IOException {
    install(Stored.NOTHING); // A store of 8 MiB caches most blocks of the file.
    Path path = Files.write(directory.resolve("item"), random((9 << 20) + SIZE));
    byte[] old = Files.readAllBytes(path);
    for (int blocks : new int[] {0, 3, 9}) {
      try (Handle handle = kind.open(path)) {
        handle.read(blocks << 20);
      }
      try (Handle handle = kind.open(path)) {
        byte[] first = handle.read(FIRST);
        replace(path, old.length + 100);
        replace(path, old.length + 200);
        byte[] rest = handle.read(2 * old.length);
        assertThat(Arrays.equals(joined(first, rest), old)).as("%s, %d", kind, blocks).isTrue();
      }
      Files.write(path, old);
      Files.setLastModifiedTime(path, FileTime.fromMillis(1_000_000));
    }
  }

  /**
   * Replaces, appends to and truncates a file at random while handles of each kind read it: each
   * read matches the kernel's view of the opened file. If that file is truncated in place, a handle
   * may also return bytes that the file had when it was opened; if the file is replaced, a handle
   * may end where the file ended when it was opened.
   */
  @Test
  @Tag("slow")
  void randomChangesReadAsTheKernelShowsThem() throws IOException {
    install(Stored.NOTHING);
    long seed = 20261122;
    SplittableRandom random = new SplittableRandom(seed);
    Path path = directory.resolve("item");
    Content named = new Content(replace(path, SIZE));
    List<Opened> handles = new ArrayList<>();
    int reads = 0;
    for (int step = 0; step < 20_000; step++) {
      switch (random.nextInt(12)) {
        case 0 -> {
          named.replaced = true;
          named = new Content(replace(path, FIRST + random.nextInt(SIZE)));
        }
        case 1 -> {
          byte[] more = random(random.nextInt(200));
          Files.write(path, more, StandardOpenOption.APPEND);
          named.bytes = joined(named.bytes, more);
        }
        case 2 -> {
          if (random.nextInt(8) == 0) {
            int length = random.nextInt(named.bytes.length + 1);
            try (FileChannel writer = FileChannel.open(path, StandardOpenOption.WRITE)) {
              writer.truncate(length);
            }
            named.bytes = Arrays.copyOf(named.bytes, length);
            named.truncated = true;
          }
        }
        case 3, 4 -> {
          if (handles.size() < 6 && named.bytes.length > 0) {
            Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
            handles.add(new Opened(kind, path, named));
          }
        }
        case 5 -> {
          if (!handles.isEmpty()) {
            handles.remove(random.nextInt(handles.size())).handle.close();
          }
        }
        default -> {
          if (!handles.isEmpty()) {
            String where = "seed " + seed + ", step " + step;
            handles.get(random.nextInt(handles.size())).read(1 + random.nextInt(FIRST), where);
            reads++;
          }
        }
      }
    }
    for (Opened opened : handles) {
      opened.handle.close();
    }
    assertThat(reads).isGreaterThan(5_000);
  }

  /** A file, independent of its current name. */
  private static final class Content {
    private byte[] bytes;
    private boolean truncated;
    private boolean replaced;

    Content(byte[] bytes) {
      this.bytes = bytes;
    }
  }

  /** A handle and the file it opened. */
  private static final class Opened {
    private final Kind kind;
    private final Handle handle;
    private final Content file;
    private final byte[] before;
    private int position;

    Opened(Kind kind, Path path, Content file) throws IOException {
      this.kind = kind;
      this.handle = kind.open(path);
      this.file = file;
      this.before = file.bytes;
    }

    void read(int length, String where) throws IOException {
      byte[] expected =
          position >= file.bytes.length
              ? new byte[0]
              : Arrays.copyOfRange(
                  file.bytes, position, Math.min(file.bytes.length, position + length));
      byte[] read = handle.read(length);
      if (!Arrays.equals(read, expected)) {
        String what = where + ": " + kind + ", " + read.length + " bytes from " + position;
        boolean atItsEnd = position + read.length == before.length;
        assertThat(file.truncated || (file.replaced && atItsEnd)).as(what).isTrue();
        for (int i = 0; i < read.length; i++) {
          int at = position + i;
          boolean old = at < before.length && before[at] == read[i];
          boolean now = i < expected.length && expected[i] == read[i];
          assertThat(old || now).as("%s, byte %d", what, at).isTrue();
        }
      }
      position += read.length;
    }
  }
}
