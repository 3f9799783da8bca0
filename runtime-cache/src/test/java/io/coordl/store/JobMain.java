package io.coordl.store;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A job in a separate JVM. Arguments: {@code directory group items epochs seed [anywhere]}. Fetches
 * all items in order, starting with the first, or with a random one if {@code anywhere} is given;
 * then fetches random items. Starts when it reads a byte, checks each item, prints the number of
 * reads from storage, and leaves at the next byte or when its input ends.
 */
public final class JobMain {
  /** Exit status of a job started with {@code anywhere} that was served a wrong item or none. */
  static final int WRONG = 3;

  private JobMain() {}

  private static void print(String line) {
    System.err.println(line);
  }

  /** Runs the job. */
  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[0]);
    int items = Integer.parseInt(args[2]);
    int epochs = Integer.parseInt(args[3]);
    SplittableRandom random = new SplittableRandom(Long.parseLong(args[4]));
    try (ArenaStore store = Items.openHost(directory, args[1], () -> 256 << 20, JobMain::print)) {
      System.out.println("joined");
      System.in.read();
      int start = args.length > 5 ? random.nextInt(items) : 0;
      int reads = 0;
      int torn = 0;
      int other = 0;
      for (int i = 0; i < epochs * items; i++) {
        long number = i < items ? (start + i) % items : random.nextInt(items);
        Fetched fetched =
            store.fetch(Items.key(number), Items.length(number), Items.loader(number));
        reads += fetched.outcome() == Outcome.ADMITTED ? 1 : 0;
        other += fetched.content() == null ? 1 : 0;
        if (fetched.content() != null
            && !Arrays.equals(Items.bytes(fetched.content()), Items.content(number))) {
          torn++;
        }
        if (args.length > 5 && torn + other > 0) {
          Runtime.getRuntime().halt(WRONG);
        }
      }
      System.out.println(
          "reads "
              + reads
              + " torn "
              + torn
              + " unserved "
              + other
              + " corrupt "
              + store.corrupt.sum()
              + " items "
              + store.items());
      System.in.read();
    }
  }
}
