package io.coordl.staging;

import static io.coordl.staging.StagingDescriptor.LOW_MASK;
import static io.coordl.staging.StagingDescriptor.MAX_MEMBERS;
import static io.coordl.staging.StagingDescriptor.MAX_SLOTS;
import static io.coordl.staging.StagingDescriptor.MEMBER_BEAT;
import static io.coordl.staging.StagingDescriptor.MEMBER_BLOCKED;
import static io.coordl.staging.StagingDescriptor.MEMBER_CURSOR;
import static io.coordl.staging.StagingDescriptor.MEMBER_JOB;
import static io.coordl.staging.StagingDescriptor.MEMBER_PID;
import static io.coordl.staging.StagingDescriptor.MEMBER_PRODUCES;
import static io.coordl.staging.StagingDescriptor.OPEN;
import static io.coordl.staging.StagingDescriptor.READY;
import static io.coordl.staging.StagingDescriptor.SLIDING;

import java.util.function.LongPredicate;

/**
 * The jobs of a staging buffer as one of them sees them. What is alive, goes on and is worth
 * waiting for each job judges by its own clock, from what it sees change; judging wrongly costs
 * work, never bytes. Thread-safe.
 */
final class Members {
  private final StagingMemory memory;
  private final Peers peers;
  private final Clock clock;
  private final Bounds bounds;
  private final long job;
  private final Seen[] seen = new Seen[MAX_MEMBERS];

  /** When a member was last seen to change. */
  private static final class Seen {
    private long job;
    private long beat;
    private long beatAt;
    private long cursor;
    private long cursorAt;
  }

  Members(StagingMemory memory, Peers peers, Clock clock, Bounds bounds, long job) {
    this.memory = memory;
    this.peers = peers;
    this.clock = clock;
    this.bounds = bounds;
    this.job = job;
    for (int i = 0; i < MAX_MEMBERS; i++) {
      seen[i] = new Seen();
    }
  }

  long job(int member) {
    return memory.get(StagingDescriptor.member(member) + MEMBER_JOB);
  }

  /** The member that a job is. */
  int memberOf(long someJob) {
    for (int i = 0; i < MAX_MEMBERS; i++) {
      if (job(i) == someJob) {
        return i;
      }
    }
    throw new IllegalStateException("job " + someJob + " is no member");
  }

  long pid(int member) {
    return memory.get(StagingDescriptor.member(member) + MEMBER_PID);
  }

  long cursor(int member) {
    return memory.get(StagingDescriptor.member(member) + MEMBER_CURSOR);
  }

  /** Live members, this one included. */
  int count() {
    int count = 0;
    for (int i = 0; i < MAX_MEMBERS; i++) {
      long other = job(i);
      count += other != 0 && peers.alive(other) ? 1 : 0;
    }
    return count;
  }

  /** Whether the member runs and is not stopped. */
  boolean running(int member) {
    long other = job(member);
    if (other == 0 || !peers.alive(other)) {
      return false;
    }
    Seen last = look(member, other);
    synchronized (last) {
      return clock.nanos() - last.beatAt <= bounds.beat().toNanos();
    }
  }

  /** Whether the member may be expected to go on, so that waiting for it makes sense. */
  boolean waitable(int member) {
    if (!running(member) || memory.get(StagingDescriptor.member(member) + MEMBER_BLOCKED) != 0) {
      return false;
    }
    Seen last = seen[member];
    synchronized (last) {
      return clock.nanos() - last.cursorAt <= bounds.lease().toNanos();
    }
  }

  private Seen look(int member, long other) {
    Seen last = seen[member];
    long beat = memory.get(StagingDescriptor.member(member) + MEMBER_BEAT);
    long cursor = cursor(member);
    synchronized (last) {
      long now = clock.nanos();
      if (last.job != other || last.beat != beat) {
        last.beat = beat;
        last.beatAt = now;
      }
      if (last.job != other || last.cursor != cursor) {
        last.cursor = cursor;
        last.cursorAt = now;
      }
      last.job = other;
    }
    return last;
  }

  /** Whether what this job has begun will be ended: it is this one, or runs. */
  boolean holdsOn(long other) {
    if (other == job) {
      return true;
    }
    for (int i = 0; i < MAX_MEMBERS; i++) {
      if (job(i) == other) {
        return running(i);
      }
    }
    return false;
  }

  /** Whether any running job prepares batches of this pass. */
  boolean anyProduces(long pass) {
    for (int i = 0; i < MAX_MEMBERS; i++) {
      if (memory.get(StagingDescriptor.member(i) + MEMBER_PRODUCES) == pass && running(i)) {
        return true;
      }
    }
    return false;
  }

  /** Changes whenever any job gets on. */
  long progress() {
    long sum = 0;
    for (int i = 0; i < MAX_MEMBERS; i++) {
      sum = sum * 31 + cursor(i);
    }
    return sum;
  }

  /**
   * Frees what the dead hold. A member's number is given to another job only where nobody can be
   * about to take that one for the dead: alone, or while joining.
   */
  void buryDead() {
    boolean anyDead = false;
    for (int i = 0; i < MAX_MEMBERS; i++) {
      anyDead |= isDead(i);
    }
    if (anyDead) {
      peers.alone(
          () -> {
            for (int i = 0; i < MAX_MEMBERS; i++) {
              if (isDead(i)) {
                bury(memory, i);
              }
            }
          });
    }
  }

  private boolean isDead(int member) {
    long other = job(member);
    return other != 0 && !peers.alive(other);
  }

  /**
   * Makes a job the first member that nobody is, or whose job is dead; alone, or while joining.
   *
   * @return false if there are too many
   */
  static boolean enter(StagingMemory memory, long job, long pid, LongPredicate alive) {
    for (int member = 0; member < MAX_MEMBERS; member++) {
      long at = StagingDescriptor.member(member);
      long before = memory.get(at + MEMBER_JOB);
      if (before == 0 || !alive.test(before)) {
        bury(memory, member);
        memory.set(at + MEMBER_PID, pid);
        memory.set(at + MEMBER_BEAT, 0);
        memory.set(at + MEMBER_BLOCKED, 0);
        memory.set(at + MEMBER_PRODUCES, 0);
        memory.set(at + MEMBER_CURSOR, 0);
        memory.set(at + MEMBER_JOB, job);
        return true;
      }
    }
    return false;
  }

  /** Takes the member out of slots and passes. */
  static void bury(StagingMemory memory, int member) {
    for (int slot = 0; slot < MAX_SLOTS; slot++) {
      removeBit(memory, StagingDescriptor.slot(slot), member, READY, READY);
    }
    for (int descriptor = 0; descriptor < 2; descriptor++) {
      removeBit(memory, memory.pass(descriptor).state(), member, OPEN, SLIDING);
    }
    memory.set(StagingDescriptor.member(member) + MEMBER_JOB, 0);
  }

  private static void removeBit(
      StagingMemory memory, long at, int member, int oneState, int otherState) {
    while (true) {
      long word = memory.get(at);
      int state = StagingDescriptor.state(word);
      long without = word & ~(1L << member);
      if ((state != oneState && state != otherState)
          || without == word
          || memory.compareAndSet(at, word, without)) {
        return;
      }
    }
  }

  /** The members of a set. */
  static boolean contains(long word, int member) {
    return (word & LOW_MASK & 1L << member) != 0;
  }
}
