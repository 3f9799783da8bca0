package example.truth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;

/**
 * The program's own measurement of how long its training thread waits.
 *
 * <p>{@linkplain #timed Timed}: the program's loop, or its iterator that a framework's loop calls,
 * adds each wait with {@link #waited}. This is exact.
 *
 * <p>{@linkplain #fromTimestamps From timestamps}, where only the framework sees the calls: the
 * data set records when each batch was begun and ready, and when the training thread first read it
 * (if it does); a listener records when each step ended. The wait for batch k lasts from the end of
 * step k-1 until batch k is read, or until it is ready if no read is recorded. The first wait of an
 * epoch starts when its first batch is begun, because the loop requests it then. If the training
 * thread produces its batches itself, every wait starts in this way. This method misses the
 * framework's own work between a listener's call and the next request, and the hand-over of a batch
 * that the training thread does not read. Both are short, except for class loading in the first
 * epoch.
 *
 * <p>Thread-safe.
 */
final class Waits {
  /** {@link System#nanoTime} when a batch was begun and when it was ready. */
  private record Produced(long begun, long ready) {
    Produced and(Produced other) {
      return new Produced(Math.min(begun, other.begun), Math.max(ready, other.ready));
    }
  }

  private final Settings settings;
  private final boolean timed;
  private final boolean ahead;
  private final int workers;
  private final Thread training = Thread.currentThread();
  private final long coreWait = coreWait();
  private final TreeMap<Integer, Produced> produced = new TreeMap<>();
  private final Set<Integer> readBatches = new HashSet<>();
  private final List<Long> stepEnds = new ArrayList<>();
  private final List<Long> epochWaits = new ArrayList<>();
  private long total;
  private long fetched;
  private int steps;

  private Waits(Settings settings, boolean timed, boolean ahead, int workers) {
    this.settings = settings;
    this.timed = timed;
    this.ahead = ahead;
    this.workers = workers;
  }

  /** Creates waits that the program times itself. */
  static Waits timed(Settings settings) {
    return new Waits(settings, true, false, 1);
  }

  /**
   * Creates waits that are computed from the timestamps of the data set and of the listener.
   *
   * @param ahead whether another thread produces the batches
   * @param workers number of batches that each round of steps uses
   */
  static Waits fromTimestamps(Settings settings, boolean ahead, int workers) {
    return new Waits(settings, false, ahead, workers);
  }

  /** Adds a wait that the program timed. */
  synchronized void waited(long nanos) {
    if (!timed) {
      throw new IllegalStateException("These waits are computed from timestamps.");
    }
    total += nanos;
  }

  /** Adds the part of a wait in which a file was read. */
  synchronized void fetched(long nanos) {
    fetched += nanos;
  }

  /** Records that the program's own loop has ended an epoch. */
  synchronized void epochEnded() {
    epochWaits.add(total - epochWaits.stream().mapToLong(Long::longValue).sum());
  }

  /** Records that a batch, or a part of it, was produced. */
  synchronized void produced(int batch, long begun, long ready) {
    if (timed) {
      return;
    }
    produced.merge(batch, new Produced(begun, ready), Produced::and);
  }

  /**
   * Records when the training thread, which created this object, first reads a batch; ignores other
   * threads and later reads.
   */
  synchronized void read(int batch) {
    if (!timed && Thread.currentThread() == training && readBatches.add(batch)) {
      long now = System.nanoTime();
      produced.computeIfPresent(batch, (key, times) -> new Produced(times.begun(), now));
    }
  }

  /** Records that a step, or one worker's share of it, has just ended. */
  synchronized void stepEnded() {
    steps++;
    if (!timed) {
      stepEnds.add(System.nanoTime());
    }
  }

  /** Adds up the waits so far and forgets all batches, because the data start again. */
  synchronized void restart() {
    int rounds = stepEnds.size() / workers;
    long previousEnd = 0;
    long before = total;
    for (int round = 0; round < rounds; round++) {
      Produced first = produced.get(round * workers);
      Produced last = produced.get(lastOf(round));
      if (first != null && last != null) {
        long requested = !ahead || round == 0 ? first.begun() : previousEnd;
        total += Math.max(0, last.ready() - requested);
      }
      previousEnd = stepEnds.get(round * workers + workers - 1);
    }
    produced.clear();
    readBatches.clear();
    stepEnds.clear();
    if (total > before) {
      epochWaits.add(total - before);
    }
  }

  /**
   * Returns the last batch that a round waits for. ParallelWrapper hands out a round only after it
   * has received the next round's first batch.
   */
  private int lastOf(int round) {
    int last = round * workers + workers - 1;
    return workers > 1 && produced.containsKey(last + 1) ? last + 1 : last;
  }

  /**
   * Returns the nanoseconds that this thread has waited for a core, from the kernel's statistics; 0
   * if there are none.
   */
  private static long coreWait() {
    try {
      return Long.parseLong(
          Files.readString(Path.of("/proc/thread-self/schedstat")).split(" ", -1)[1]);
    } catch (IOException e) {
      return 0;
    }
  }

  /** Ends the measurement and prints it as one line of JSON. Called by the training thread. */
  synchronized void print() {
    restart();
    System.out.printf(
        Locale.ROOT,
        "{\"program\":\"%s\",\"trueStallNanos\":%d,\"batches\":%d,\"epochs\":%d,"
            + "\"prepMillis\":%d,\"stepMillis\":%d,\"fetchNanos\":%d,\"coreWaitNanos\":%d,"
            + "\"epochStallNanos\":%s}%n",
        settings.program(),
        total,
        steps,
        settings.epochs(),
        settings.prepMillis(),
        settings.stepMillis(),
        fetched,
        coreWait() - coreWait,
        epochWaits);
  }
}
