package io.coordl.items;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Reads whole files, bypassing the page cache ({@code O_DIRECT}), so that they come from storage at
 * its real rate and evict nothing. If a file system does not support that, or is itself in memory,
 * files are read as usual and {@link #access} reports why. Thread-safe.
 */
public final class DirectReads {
  /** Largest single read; a multiple of every block size. */
  private static final int CHUNK = 2 << 20;

  private static final int MAX_BLOCK = 1 << 16;

  private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs", "devtmpfs", "hugetlbfs");

  /** Reason why files cannot bypass the page cache, by directory; empty if they can. */
  private final Map<String, String> directories = new ConcurrentHashMap<>();

  private final ThreadLocal<ByteBuffer> buffers =
      ThreadLocal.withInitial(
          () -> ByteBuffer.allocateDirect(CHUNK + MAX_BLOCK).alignedSlice(MAX_BLOCK));

  private final LongAdder direct = new LongAdder();
  private final LongAdder buffered = new LongAdder();

  /** Describes whether all files so far bypassed the page cache; empty before the first one. */
  public String access() {
    if (buffered.sum() == 0) {
      return direct.sum() == 0 ? "" : "direct";
    }
    String reason =
        directories.values().stream()
            .filter(words -> !words.isEmpty())
            .findFirst()
            .orElse("direct reads failed");
    return direct.sum() == 0 ? reason : "partly direct; else " + reason;
  }

  /** Reads the whole file; false if it has changed since it was checked. */
  public boolean read(ItemFile file, byte[] target, int offset) throws IOException {
    String directory = file.path().substring(0, Math.max(1, file.path().lastIndexOf('/')));
    if (directories.computeIfAbsent(directory, DirectReads::whyNot).isEmpty()) {
      try {
        if (readDirect(file, target, offset)) {
          direct.increment();
          return true;
        }
      } catch (IOException | UnsupportedOperationException e) {
        if (!Thread.currentThread().isInterrupted()) { // An interrupt closes only this channel.
          directories.put(directory, "not direct: " + e.getMessage());
        }
      }
    }
    buffered.increment();
    return file.readWhole(target, offset);
  }

  private static String whyNot(String directory) {
    try {
      FileStore store = Files.getFileStore(Path.of(directory));
      if (IN_MEMORY.contains(store.type())) {
        return "not direct: " + directory + " is in memory (" + store.type() + ")";
      }
      long block = store.getBlockSize();
      return block > 0 && block <= MAX_BLOCK && Long.bitCount(block) == 1
          ? ""
          : "not direct: blocks of " + block + " bytes";
    } catch (IOException | UnsupportedOperationException e) {
      return "not direct: " + e.getMessage();
    }
  }

  /** Stops at the file's size, because a read after the last, partial block would be misaligned. */
  private boolean readDirect(ItemFile file, byte[] target, int offset) throws IOException {
    ByteBuffer buffer = buffers.get();
    try (FileChannel channel =
        FileChannel.open(
            Path.of(file.path()), StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
      long done = 0;
      while (done < file.size()) {
        buffer.clear().limit(CHUNK);
        int count = channel.read(buffer, done);
        if (count <= 0) {
          return false;
        }
        int wanted = (int) Math.min(count, file.size() - done);
        buffer.get(0, target, offset + (int) done, wanted);
        done += wanted;
        if (done < file.size() && count < CHUNK) {
          return false; // Shorter than its recorded size.
        }
      }
    }
    return file.unchanged();
  }
}
