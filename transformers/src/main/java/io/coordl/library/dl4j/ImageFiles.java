package io.coordl.library.dl4j;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The files a pass goes through, numbered by their sorted paths, so that all jobs on a host number
 * them alike whatever their order. A file may be there more than once. Immutable.
 */
final class ImageFiles {
  private static final long FNV_BASIS = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private final File[] sorted;
  private final Map<File, Integer> numbers = new HashMap<>();
  private final int[] counts;
  private final int size;
  private final long checksum;

  /** The files of one pass, in any order; looks at each. */
  ImageFiles(List<File> pass) {
    sorted = pass.stream().sorted().distinct().toArray(File[]::new);
    for (int i = 0; i < sorted.length; i++) {
      numbers.put(sorted[i], i);
    }
    counts = new int[sorted.length];
    pass.forEach(file -> counts[Objects.requireNonNull(numbers.get(file))]++);
    size = pass.size();
    checksum = checksum();
  }

  /** The numbers of a pass's files, in its order; null if it goes through other files. */
  int @Nullable [] numbersOf(List<File> pass) {
    if (pass.size() != size) {
      return null;
    }
    int[] left = counts.clone();
    int[] items = new int[size];
    for (int i = 0; i < size; i++) {
      Integer number = numbers.get(pass.get(i));
      if (number == null || --left[number] < 0) {
        return null;
      }
      items[i] = number;
    }
    return items;
  }

  /** One of them; null if there is none of that number. */
  @Nullable File file(int number) {
    return number < 0 || number >= sorted.length ? null : sorted[number];
  }

  /** How many there are, and a checksum of paths, sizes and times of modification. */
  @Override
  public String toString() {
    return size + " with checksum " + Long.toHexString(checksum);
  }

  private long checksum() {
    long hash = FNV_BASIS;
    for (int i = 0; i < sorted.length; i++) {
      hash = hash(hash, sorted[i].getPath());
      hash = hash(hash, stateOf(sorted[i]));
      hash = hash(hash, Integer.toString(counts[i]));
    }
    return hash;
  }

  private static String stateOf(File file) {
    try {
      BasicFileAttributes state = Files.readAttributes(file.toPath(), BasicFileAttributes.class);
      return state.size() + " " + state.lastModifiedTime().toMillis();
    } catch (IOException | InvalidPathException e) {
      return "missing"; // The program meets that when it reads it.
    }
  }

  private static long hash(long before, String text) {
    long hash = before;
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xff)) * FNV_PRIME;
    }
    return hash * FNV_PRIME;
  }
}
