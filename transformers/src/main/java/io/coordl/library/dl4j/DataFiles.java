package io.coordl.library.dl4j;

import io.coordl.host.SharedFile;
import io.coordl.items.FileState;
import io.coordl.pipeline.Checksum;
import io.coordl.pipeline.LibraryEpoch;
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The files of an epoch, each with one or more records. Records are numbered file by file, in the
 * order of the sorted paths, so that all jobs on a host use the same numbers, whatever the order of
 * their epochs. A file may occur more than once. Immutable.
 */
final class DataFiles {
  private final File[] sorted;
  private final Map<File, Integer> numbers = new HashMap<>();

  /** How often each file occurs in an epoch. */
  private final int[] occurrences;

  /** Checksums of the absolute path of each file. */
  private final long[] paths;

  /** Checksums of the state of each file. */
  private final long[] states;

  /** Number of the first record of each file, then the total number of records. */
  private final int[] first;

  private final int files;
  private final int records;
  private final long checksum;

  /** Reads the states of the files of an epoch, given in any order, with one record each. */
  DataFiles(List<File> epoch) {
    this(epoch, file -> 1);
  }

  /**
   * Reads the states of the files of an epoch, given in any order.
   *
   * @param recordsOf returns the number of records in a file, at least one
   * @throws ArithmeticException if there are more records than can be numbered
   */
  DataFiles(List<File> epoch, ToIntFunction<File> recordsOf) {
    sorted = epoch.stream().sorted().distinct().toArray(File[]::new);
    first = new int[sorted.length + 1];
    for (int i = 0; i < sorted.length; i++) {
      numbers.put(sorted[i], i);
      first[i + 1] = Math.addExact(first[i], recordsOf.applyAsInt(sorted[i]));
    }
    occurrences = new int[sorted.length];
    int all = 0;
    for (File file : epoch) {
      int number = numberOf(file);
      occurrences[number]++;
      all = Math.addExact(all, recordsIn(number));
    }
    files = epoch.size();
    records = all;
    paths =
        Arrays.stream(sorted)
            .mapToLong(file -> SharedFile.checksum(file.getAbsolutePath()))
            .toArray();
    states = Arrays.stream(sorted).mapToLong(DataFiles::stateOf).toArray();
    checksum = checksum();
  }

  private int numberOf(File file) {
    return Objects.requireNonNull(numbers.get(file));
  }

  private int recordsIn(int number) {
    return first[number + 1] - first[number];
  }

  /** Returns the numbers of an epoch's records, in order; null if its files differ. */
  int @Nullable [] numbersOf(List<File> epoch) {
    if (epoch.size() != files) {
      return null;
    }
    int[] remaining = occurrences.clone();
    int[] items = new int[records];
    int at = 0;
    for (File file : epoch) {
      Integer number = numbers.get(file);
      if (number == null || --remaining[number] < 0) {
        return null;
      }
      for (int item = first[number]; item < first[number + 1]; item++) {
        items[at++] = item;
      }
    }
    return items;
  }

  /**
   * Returns the files in the order of these records; null if that is no valid order of an epoch.
   */
  @Nullable List<File> inOrderOf(int[] items) {
    List<File> epoch = new ArrayList<>();
    for (int at = 0; at < items.length; ) {
      int number = Arrays.binarySearch(first, 0, sorted.length, items[at]);
      if (number < 0) {
        return null;
      }
      epoch.add(sorted[number]);
      at += recordsIn(number);
    }
    return Arrays.equals(items, numbersOf(epoch)) ? epoch : null;
  }

  /** Returns the number of records and files, and a checksum of the files' paths and states. */
  @Override
  public String toString() {
    return (records == files ? "" : records + " in ")
        + files
        + (records == files ? "" : files == 1 ? " file" : " files")
        + " with checksum "
        + Long.toHexString(checksum);
  }

  private long checksum() {
    long hash = SharedFile.checksum("");
    for (int i = 0; i < sorted.length; i++) {
      String file = sorted[i].getPath() + "\n" + states[i] + "\n" + occurrences[i] + "\n";
      hash = SharedFile.checksum(hash, file);
    }
    return hash;
  }

  /**
   * Returns a checksum of the attributes of a file that change when it is rewritten or replaced.
   */
  static long stateOf(File file) {
    return FileState.of(file.getPath()).checksum();
  }

  boolean isUnchanged(File file) {
    return states[numberOf(file)] == stateOf(file);
  }

  /**
   * Identifies some records of an epoch.
   *
   * @param items numbers of all records of an epoch, in its order
   * @param from index in {@code items} of the first of these records
   * @param before identity of the records before these
   * @return null if records are counted per file, and a file of these records has changed since
   *     then
   */
  LibraryEpoch.@Nullable Key identify(int[] items, int from, int to, LibraryEpoch.Key before) {
    long checksum = before.checksum();
    long stamp = before.stamp();
    int last = -1;
    for (int at = from; at < to; at++) {
      int number = fileOf(items[at]);
      if (number != last) {
        FileState now = FileState.of(sorted[number].getPath());
        if (records != files && states[number] != now.checksum()) {
          return null;
        }
        checksum = Checksum.mix(Checksum.mix(checksum, paths[number]), now.checksumOfLike());
        stamp = Checksum.mix(stamp, now.changedNanos());
        last = number;
      }
      checksum = Checksum.mix(checksum, items[at] - first[number]);
    }
    return new LibraryEpoch.Key(checksum, stamp);
  }

  /**
   * Adds the absolute paths of the files of these records; the parameters are those of {@link
   * #identify}.
   */
  void addPaths(int[] items, int from, int to, Set<String> paths) {
    for (int at = from; at < to; at++) {
      paths.add(sorted[fileOf(items[at])].getAbsolutePath());
    }
  }

  /** Returns the number of the file that contains a record. */
  private int fileOf(int item) {
    if (first[sorted.length] == sorted.length) {
      return item; // Each file has one record.
    }
    int number = Arrays.binarySearch(first, 0, sorted.length, item);
    return number < 0 ? -number - 2 : number;
  }
}
