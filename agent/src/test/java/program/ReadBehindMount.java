package program;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;

/**
 * Repeatedly changes a file in a mounted directory and reads it through the mount; prints what it
 * reads. Arguments: the file's path on the mount, and in the mounted directory.
 */
public final class ReadBehindMount {
  private static final int SIZE = 5_000;
  private static final FileTime TIME = FileTime.fromMillis(1_700_000_000_000L);

  private ReadBehindMount() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Path here = Path.of(arguments[0]);
    Path there = Path.of(arguments[1]);
    write(there, 1, SIZE);
    read("new", here);
    write(there, 2, SIZE + 1);
    read("longer", here);
    write(there, 3, SIZE + 1);
    read("as long and as old", here);
    Path other = there.resolveSibling("other");
    write(other, 4, SIZE + 1);
    Files.move(other, there, StandardCopyOption.REPLACE_EXISTING);
    read("another in its place", here);
    Files.createLink(there.resolveSibling("link"), there);
    read("linked", here);
  }

  /** Writes the file, after a clock tick, so that two writes never have the same change time. */
  private static void write(Path file, int value, int size) throws IOException {
    byte[] bytes = new byte[size];
    Arrays.fill(bytes, (byte) value);
    Path clock = Files.createTempFile(file.getParent(), "clock", "");
    FileTime before = Files.getLastModifiedTime(clock);
    while (Files.getLastModifiedTime(Files.write(clock, bytes)).equals(before)) {
      Thread.onSpinWait();
    }
    Files.delete(clock);
    Files.write(file, bytes);
    Files.setLastModifiedTime(file, TIME);
  }

  private static void read(String what, Path file) throws IOException {
    for (int i = 0; i < 3; i++) {
      byte[] bytes = new byte[2 * SIZE];
      int read;
      int last;
      try (FileInputStream in = new FileInputStream(file.toFile())) {
        read = in.read(bytes);
      }
      try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
        last = in.read(new byte[2 * SIZE]);
      }
      byte[] whole = Files.readAllBytes(file);
      System.out.println(
          what + ": " + read + " " + last + " " + whole.length + " of " + bytes[0] + whole[0]);
    }
  }
}
