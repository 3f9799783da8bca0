package io.coordl.store;

import io.coordl.bridge.OpenItem;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Prints the cost of admissions and hits, and of the same reads from a warm page cache, with 2,000
 * files of 110 kB and one thread. Run by hand; asserts nothing.
 */
public final class HitCost {
  private static final int FILES = 2000;
  private static final int BYTES = 110_000;
  private static final int READS = 20_000;

  private HitCost() {}

  private interface Read {
    void read(String path) throws IOException;
  }

  /** Measures a private store, or a shared one if there is any argument. */
  public static void main(String[] args) throws Exception {
    Path directory = Files.createTempDirectory("coordl-hit");
    List<String> paths = new ArrayList<>();
    for (int i = 0; i < FILES; i++) {
      paths.add(Items.file(directory, "img_" + i + ".jpg", BYTES).toString());
    }
    ByteBudget budget = ByteBudget.parse("512m");
    try (ArenaStore store =
        args.length > 0
            ? ArenaStore.openHost(ArenaStore.SHARED_MEMORY, "hit-cost", budget, HitCost::print)
            : ArenaStore.openProcess(ArenaStore.SHARED_MEMORY, budget, HitCost::print)) {
      MinioCache cache = new MinioCache(store, path -> true);
      byte[] target = new byte[BYTES];
      measure("admission, file in page cache", paths, false, path -> cache.open(path).close());
      store.forgetChecks();
      measure("first hit, with its check", paths, false, path -> cache.open(path).close());
      for (int round = 0; round < 3; round++) {
        measure("hit, view", paths, true, path -> cache.open(path).close());
        measure("hit, copied", paths, true, path -> copy(cache, path, target));
        measure("FileInputStream", paths, true, path -> stream(path, target));
        measure("Files.readAllBytes", paths, true, path -> Files.readAllBytes(Path.of(path)));
      }
    } finally {
      for (String path : paths) {
        Files.delete(Path.of(path));
      }
      Files.delete(directory);
    }
  }

  private static void copy(MinioCache cache, String path, byte[] target) {
    OpenItem item = cache.open(path);
    item.content().get(target);
    item.close();
  }

  private static void stream(String path, byte[] target) throws IOException {
    try (FileInputStream in = new FileInputStream(path)) {
      if (in.read(target) != target.length) {
        throw new IOException(path + " is short");
      }
    }
  }

  private static void measure(String what, List<String> paths, boolean random, Read read)
      throws IOException {
    SplittableRandom order = new SplittableRandom(1);
    long[] nanos = new long[random ? READS : paths.size()];
    for (int i = 0; i < nanos.length; i++) {
      String path = paths.get(random ? order.nextInt(paths.size()) : i);
      long start = System.nanoTime();
      read.read(path);
      nanos[i] = System.nanoTime() - start;
    }
    Arrays.sort(nanos);
    System.out.printf(
        "%-30s p50 %6.1f us  p99 %6.1f us%n",
        what, nanos[nanos.length / 2] / 1e3, nanos[nanos.length * 99 / 100] / 1e3);
  }

  private static void print(String line) {
    System.err.println(line);
  }
}
