package example.reads;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * Reads a folder's files for some epochs with different JDK calls, leaves a few files mapped, and
 * then allocates native memory, like programs that load a model late.
 *
 * <p>Arguments: {@code FOLDER EPOCHS NATIVE_MIB SECONDS}; the allocation takes at least SECONDS.
 * Prints a checksum per epoch, and finally the allocated memory and a checksum of the mapped files.
 */
public final class ReadThenAllocate {
  private static final int MAPPED = 5;
  private static final int MIB = 1 << 20;

  private ReadThenAllocate() {}

  /** Reads, then allocates. */
  public static void main(String[] args) throws IOException {
    List<Path> files;
    try (Stream<Path> listed = Files.list(Path.of(args[0]))) {
      files = listed.sorted().toList();
    }
    List<MappedByteBuffer> mapped = new ArrayList<>();
    for (int epoch = 1; epoch <= Integer.parseInt(args[1]); epoch++) {
      CRC32 sum = new CRC32();
      for (int i = 0; i < files.size(); i++) {
        sum.update(read(files.get(i), i % 3));
      }
      System.out.println("epoch " + epoch + ": " + Long.toHexString(sum.getValue()));
    }
    for (int i = 0; i < MAPPED; i++) {
      try (FileChannel channel =
          FileChannel.open(files.get(i * files.size() / MAPPED), StandardOpenOption.READ)) {
        mapped.add(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()));
      }
    }
    List<ByteBuffer> taken = take(Integer.parseInt(args[2]), Double.parseDouble(args[3]));
    CRC32 sum = new CRC32();
    mapped.forEach(sum::update);
    System.out.println("taken " + taken.size() + ", mapped " + Long.toHexString(sum.getValue()));
  }

  private static byte[] read(Path file, int call) throws IOException {
    if (call == 0) {
      return Files.readAllBytes(file);
    }
    if (call == 1) {
      try (FileInputStream in = new FileInputStream(file.toFile())) {
        return in.readAllBytes();
      }
    }
    try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
      byte[] bytes = new byte[(int) in.length()];
      in.readFully(bytes);
      return bytes;
    }
  }

  private static List<ByteBuffer> take(int mebibytes, double seconds) {
    List<ByteBuffer> taken = new ArrayList<>();
    long pauseNanos = (long) (1e9 * seconds / mebibytes); // Minimum time per MiB.
    for (int i = 0; i < mebibytes; i++) {
      taken.add(ByteBuffer.allocateDirect(MIB)); // The JVM fills it with zeros.
      long due = System.nanoTime() + pauseNanos;
      for (long left = pauseNanos; left > 0; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
    }
    return taken;
  }
}
