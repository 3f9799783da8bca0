package io.coordl.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * A data set of random bytes and its checksums. Immutable; any thread.
 *
 * @param directory the folder that contains the files
 * @param sums a file with a line {@code CRC32 NAME} per item
 */
record ItemSet(Path directory, Path sums) {
  private static final int MIN_BYTES = 10_000;
  private static final int MAX_BYTES = 70_000;

  /** Creates {@code count} files of 10 to 70 kB below {@code parent}, an empty folder. */
  static ItemSet create(Path parent, int count) throws IOException {
    Path directory = Files.createDirectories(parent.resolve("items"));
    SplittableRandom random = new SplittableRandom(count);
    StringBuilder sums = new StringBuilder();
    for (int i = 0; i < count; i++) {
      byte[] content = new byte[random.nextInt(MIN_BYTES, MAX_BYTES)];
      random.nextBytes(content);
      String name = "class" + i % 4 + "/item" + i + ".bin";
      Files.createDirectories(directory.resolve(name).getParent());
      Files.write(directory.resolve(name), content);
      CRC32 crc = new CRC32();
      crc.update(content);
      sums.append(Long.toHexString(crc.getValue())).append(' ').append(name).append('\n');
    }
    return new ItemSet(directory, Files.writeString(parent.resolve("sums"), sums));
  }

  /** Names of the files, relative to the directory. */
  List<String> names() throws IOException {
    try (Stream<Path> tree = Files.walk(directory)) {
      return tree.filter(Files::isRegularFile)
          .map(file -> directory.relativize(file).toString())
          .sorted()
          .toList();
    }
  }

  /** Bytes of all files. */
  long bytes() throws IOException {
    long bytes = 0;
    for (String name : names()) {
      bytes += Files.size(directory.resolve(name));
    }
    return bytes;
  }
}
