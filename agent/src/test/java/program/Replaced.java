package program;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * Reads the files of a directory in several ways, changes each in a different way that keeps its
 * size and modification time (for example, swaps or renames it), and reads them again; prints
 * checksums. Arguments: the directory; optionally {@code keep}, to read the files only once.
 */
public final class Replaced {
  private static final int SIZE = 5_000;
  private static final FileTime TIME = FileTime.fromMillis(1_700_000_000_000L);

  private Replaced() {}

  public static void main(String[] arguments) throws IOException {
    Path data = Path.of(arguments[0]);
    read(data);
    if (arguments.length == 1) {
      replace(data);
      read(data);
      read(data);
    }
  }

  /** Creates or overwrites the files that are read. */
  public static void make(Path data, int version) throws IOException {
    for (String name : new String[] {"over", "one", "two", "rewritten", "mode", "moved"}) {
      write(data.resolve(name), version);
    }
  }

  private static Path write(Path file, int version) throws IOException {
    byte[] bytes = new byte[SIZE];
    Arrays.fill(bytes, (byte) (file.getFileName().hashCode() + version));
    Files.write(file, bytes);
    return Files.setLastModifiedTime(file, TIME);
  }

  private static void replace(Path data) throws IOException {
    long written = Files.getLastModifiedTime(Files.createTempFile("clock", "")).toMillis();
    while (Files.getLastModifiedTime(Files.createTempFile("clock", "")).toMillis() == written) {
      Thread.onSpinWait(); // Another tick of the clock.
    }
    Path other = write(data.resolveSibling("other"), 7);
    Files.move(other, data.resolve("over"), StandardCopyOption.REPLACE_EXISTING);
    Path aside = data.resolveSibling("aside");
    Files.move(data.resolve("one"), aside);
    Files.move(data.resolve("two"), data.resolve("one"));
    Files.move(aside, data.resolve("two"));
    write(data.resolve("rewritten"), 9);
    Files.setPosixFilePermissions(
        data.resolve("mode"), PosixFilePermissions.fromString("rw-------"));
    Files.move(data.resolve("moved"), data.resolve("renamed"));
  }

  private static void read(Path data) throws IOException {
    File[] files = data.toFile().listFiles();
    Arrays.sort(files);
    for (File file : files) {
      byte[] bytes = new byte[SIZE];
      String line = file.getName();
      try (FileInputStream in = new FileInputStream(file)) {
        line += " " + checksum(bytes, in.read(bytes));
      }
      try (RandomAccessFile in = new RandomAccessFile(file, "r")) {
        line += " " + checksum(bytes, in.read(bytes));
      }
      line += " " + checksum(Files.readAllBytes(file.toPath()), SIZE);
      System.out.println(line);
    }
  }

  private static long checksum(byte[] bytes, int length) {
    CRC32 crc = new CRC32();
    crc.update(bytes, 0, length);
    return crc.getValue();
  }
}
