package io.coordl.store;

import io.coordl.items.ItemFile;
import io.coordl.items.ItemKey;
import io.coordl.telemetry.log.UserLog;
import java.util.concurrent.atomic.LongAdder;

/**
 * Detects a store without hits. That happens if files have a different identity each time: on
 * mounts that invent modification times or inodes, or in a job that copies the data set again for
 * each epoch. A never-evicting store then admits each file once per epoch without any use. Requests
 * for known files under a different identity are counted; once there are as many as known files,
 * with almost no hits, the store is disabled.
 *
 * <p>Remembers 64 bits of the path and 64 of the identity of up to {@value #MAX_FILES} files; if
 * there are more, it samples them by a hash of the path and halves the sample as often as needed.
 * Only misses are recorded, so a hit costs one increment. Safe for concurrent use; never waits for
 * more than a few instructions.
 */
public final class StoreGain {
  static final int MAX_FILES = 6_144;
  private static final int SLOTS = 8_192;

  /** The store is disabled below one hit per this many files that came back with a new identity. */
  private static final int FILES_PER_HIT = 20;

  /** Minimum number of files for a verdict. */
  private static final int MIN_FILES = 16;

  private final String policy;
  private final UserLog log;
  private final Runnable whenStopped;
  private final LongAdder hits = new LongAdder();
  private volatile boolean stopped;

  // Guarded by this: pairs of path and identity; a path of 0 is a free slot.
  private long[] seen = new long[2 * SLOTS];
  private long sampleMask;
  private int known;
  private long returned;

  /**
   * @param policy name for the user, such as {@code cache=minio}
   * @param whenStopped runs once the store is disabled
   */
  public StoreGain(String policy, UserLog log, Runnable whenStopped) {
    this.policy = policy;
    this.log = log;
    this.whenStopped = whenStopped;
  }

  /** Creates an instance for a store that is disabled without a log line. */
  static StoreGain silent() {
    return new StoreGain("", word -> {}, () -> {});
  }

  /** Whether the store is disabled: it finds and admits nothing any more. */
  public boolean isStopped() {
    return stopped;
  }

  void hit() {
    hits.increment();
  }

  /** Records a miss, after which the file was admitted or the store was full. */
  void missed(ItemFile file) {
    ItemKey path = ItemKey.of(file.path(), 0, 0, ItemKey.WHOLE);
    if (!stopped && disablesStore(path.high() | 1, file.key().high())) {
      stopped = true;
      log.say(
          "%s gains nothing: a whole epoch of files, such as %s, came back with another"
              + " modification time, change time or inode, so almost none of them was found"
              + " again. It admits nothing from now on and frees its memory. Find out what changes"
              + " the files, or copy them to a local disk.",
          policy, file.path());
      whenStopped.run();
    }
  }

  /** Records a miss; true if it disables the store. */
  private synchronized boolean disablesStore(long path, long identity) {
    if (!isWatched(path) || stopped) {
      return false;
    }
    int at = slot(path);
    if (seen[at] == 0) {
      seen[at] = path;
      seen[at + 1] = identity;
      known++;
      if (known > MAX_FILES) {
        halve();
      }
      return false;
    }
    if (seen[at + 1] == identity) {
      return false; // It did not fit, or another form was admitted.
    }
    seen[at + 1] = identity;
    if (++returned < Math.max(MIN_FILES, known)) {
      return false;
    }
    long found = hits.sumThenReset();
    boolean isUseless = found * FILES_PER_HIT < returned * (sampleMask + 1);
    returned = 0;
    return isUseless;
  }

  private boolean isWatched(long path) {
    return (path >>> 32 & sampleMask) == 0;
  }

  private int slot(long path) {
    int at = (int) (path >>> 1) & (SLOTS - 1);
    while (seen[2 * at] != 0 && seen[2 * at] != path) {
      at = (at + 1) & (SLOTS - 1);
    }
    return 2 * at;
  }

  /** Halves the sample by hash bits other than those that select the slot; restarts the counts. */
  private void halve() {
    long[] before = seen;
    seen = new long[2 * SLOTS];
    sampleMask = 2 * sampleMask + 1;
    known = 0;
    returned = 0;
    hits.reset();
    for (int at = 0; at < before.length; at += 2) {
      if (before[at] != 0 && isWatched(before[at])) {
        int to = slot(before[at]);
        seen[to] = before[at];
        seen[to + 1] = before[at + 1];
        known++;
      }
    }
  }
}
