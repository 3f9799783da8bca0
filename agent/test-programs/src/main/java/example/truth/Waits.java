package example.truth;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;

/**
 * The program's own account of how long its training thread waited.
 *
 * <p>{@linkplain #timed Timed}: whoever is asked for batches, be it the program's own loop or its
 * own iterator that a framework's loop asks, adds each wait with {@link #waited}. This is exact.
 *
 * <p>{@linkplain #fromBothEnds From both ends}, where only the framework sees the asks: the data
 * notes when each batch was begun and ready, and when the training thread first looked into it (if
 * it does), a listener notes when each step ended, and the wait for batch k is what lies between
 * the end of step k-1 and batch k being looked at, or else ready, if anything. The first wait of an
 * epoch begins with the making of its first batch, for that is when the loop asks. Where the
 * training thread makes its batches itself, the wait is the making. What the framework does between
 * a listener and its next ask, and in handing over a batch that is not looked at, is beyond this
 * account: little, but for the classes that are loaded in the first epoch.
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
  private final boolean timed;
  private final boolean ahead;
  private final int workers;
  private final Thread training = Thread.currentThread();
  private final TreeMap<Integer, Made> made = new TreeMap<>();
  private final Set<Integer> looked = new HashSet<>();
  private final List<Long> stepEnds = new ArrayList<>();
  private final List<Long> epochs = new ArrayList<>();
  private long total;
  private long fetched;
  private int steps;

  private Waits(Settings settings, boolean timed, boolean ahead, int workers) {
    this.settings = settings;
    this.timed = timed;
    this.ahead = ahead;
    this.workers = workers;
  }

  /** An account of waits that the program times itself. */
  static Waits timed(Settings settings) {
    return new Waits(settings, true, false, 1);
  }

  /**
   * An account kept from both ends.
   *
   * @param ahead whether another thread makes the batches
   * @param workers how many batches a step takes at once
   */
  static Waits fromBothEnds(Settings settings, boolean ahead, int workers) {
    return new Waits(settings, false, ahead, workers);
  }

  /** One wait that the program timed. */
  synchronized void waited(long nanos) {
    if (!timed) {
      throw new IllegalStateException("This account is kept from both ends.");
    }
    total += nanos;
  }

  /** Of a wait, the part in which a file was read. */
  synchronized void fetched(long nanos) {
    fetched += nanos;
  }

  /** A loop of the program's own has come to the end of an epoch. */
  synchronized void epochEnded() {
    epochs.add(total - epochs.stream().mapToLong(Long::longValue).sum());
  }

  /** A batch, or a part of it, was made. */
  synchronized void made(int batch, long begun, long ready) {
    if (timed) {
      return;
    }
    made.merge(batch, new Made(begun, ready), Made::and);
  }

  /** The training thread, which has made this account, may look into a batch for the first time. */
  synchronized void looked(int batch) {
    if (!timed && Thread.currentThread() == training && looked.add(batch)) {
      long now = System.nanoTime();
      made.computeIfPresent(batch, (key, times) -> new Made(times.begun(), now));
    }
  }

  /** A step, or one worker's share of it, has ended just now. */
  synchronized void stepEnded() {
    steps++;
    if (!timed) {
      stepEnds.add(System.nanoTime());
    }
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
    looked.clear();
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
            + "\"prepMillis\":%d,\"stepMillis\":%d,\"fetchNanos\":%d,\"epochStallNanos\":%s}%n",
        settings.program(),
        total,
        steps,
        settings.epochs(),
        settings.prep(),
        settings.step(),
        fetched,
        epochs);
  }
}
