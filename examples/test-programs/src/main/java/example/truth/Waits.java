package example.truth;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

/**
 * The program's own account of how long its training thread waited.
 *
 * <p>A program that writes its own loop adds each wait with {@link #waited}. For the loops inside
 * the frameworks the account is kept from both ends: the data notes when each batch was begun and
 * ready, a listener notes when each step ended, and the wait for batch k is what lies between the
 * end of step k-1 and batch k being ready, if anything. The first wait of an epoch begins with the
 * making of its first batch, for that is when the loop asks. Where the training thread makes its
 * batches itself, the wait is the making. Only this account knows the waits of each epoch.
 *
 * <p>Thread-safe.
 */
final class Waits {
  private record Made(long begun, long ready) {
    Made and(Made other) {
      return new Made(Math.min(begun, other.begun), Math.max(ready, other.ready));
    }
  }

  private final Settings settings;
  private final boolean ahead;
  private final int workers;
  private final TreeMap<Integer, Made> made = new TreeMap<>();
  private final List<Long> stepEnds = new ArrayList<>();
  private final List<Long> epochs = new ArrayList<>();
  private long total;
  private int steps;

  /**
   * @param ahead whether another thread makes the batches
   * @param workers how many batches a step takes at once
   */
  Waits(Settings settings, boolean ahead, int workers) {
    this.settings = settings;
    this.ahead = ahead;
    this.workers = workers;
  }

  /** One wait that the program measured itself. */
  synchronized void waited(long nanos) {
    total += nanos;
  }

  /** A batch, or a part of it, was made. */
  synchronized void made(int batch, long begun, long ready) {
    made.merge(batch, new Made(begun, ready), Made::and);
  }

  /** A step, or one worker's share of it, has ended just now. */
  synchronized void stepEnded() {
    stepEnds.add(System.nanoTime());
    steps++;
  }

  /** The data starts again. Batches that were made and not used are forgotten. */
  synchronized void startAgain() {
    int rounds = stepEnds.size() / workers;
    long free = 0;
    long before = total;
    for (int round = 0; round < rounds; round++) {
      Made first = made.get(round * workers);
      Made last = made.get(lastOf(round));
      if (first != null && last != null) {
        long asked = !ahead || round == 0 ? first.begun() : free;
        total += Math.max(0, last.ready() - asked);
      }
      free = stepEnds.get(round * workers + workers - 1);
    }
    made.clear();
    stepEnds.clear();
    if (total > before) {
      epochs.add(total - before);
    }
  }

  /** ParallelWrapper looks whether there is a batch after a round before it hands the round out. */
  private int lastOf(int round) {
    int last = round * workers + workers - 1;
    return workers > 1 && made.containsKey(last + 1) ? last + 1 : last;
  }

  /** Ends the account and prints it as one line of JSON. */
  synchronized void print() {
    startAgain();
    System.out.printf(
        Locale.ROOT,
        "{\"program\":\"%s\",\"trueStallNanos\":%d,\"batches\":%d,\"epochs\":%d,"
            + "\"prepMillis\":%d,\"stepMillis\":%d,\"epochStallNanos\":%s}%n",
        settings.program(),
        total,
        steps,
        settings.epochs(),
        settings.prep(),
        settings.step(),
        epochs);
  }
}
