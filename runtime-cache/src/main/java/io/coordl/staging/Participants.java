package io.coordl.staging;

import static io.coordl.staging.StagingDescriptor.LOW_MASK;
import static io.coordl.staging.StagingDescriptor.MAX_PARTICIPANTS;
import static io.coordl.staging.StagingDescriptor.MAX_SLOTS;
import static io.coordl.staging.StagingDescriptor.OPEN;
import static io.coordl.staging.StagingDescriptor.PARTICIPANT_BEAT;
import static io.coordl.staging.StagingDescriptor.PARTICIPANT_BLOCKED;
import static io.coordl.staging.StagingDescriptor.PARTICIPANT_CURSOR;
import static io.coordl.staging.StagingDescriptor.PARTICIPANT_JOB;
import static io.coordl.staging.StagingDescriptor.PARTICIPANT_PID;
import static io.coordl.staging.StagingDescriptor.PARTICIPANT_PRODUCES;
import static io.coordl.staging.StagingDescriptor.READY;
import static io.coordl.staging.StagingDescriptor.SLIDING;

import io.coordl.shared.JobLiveness;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;

/**
 * The jobs of a staging buffer as one of them sees them. What is alive, goes on and is worth
 * waiting for each job judges by its own clock, from what it sees change; judging wrongly costs
 * work, never bytes. Thread-safe.
 */
final class Participants {
  private final StagingMemory memory;
  private final JobLiveness liveness;
  private final Clock clock;
  private final Timeouts timeouts;
  private final long job;
  private final Seen[] seen = new Seen[MAX_PARTICIPANTS];

  /** When a participant was last seen to change. */
  private static final class Seen {
    private long job;
    private long beat;
    private long beatAt;
    private long cursor;
    private long cursorAt;
  }

  Participants(
      StagingMemory memory, JobLiveness liveness, Clock clock, Timeouts timeouts, long job) {
    this.memory = memory;
    this.liveness = liveness;
    this.clock = clock;
    this.timeouts = timeouts;
    this.job = job;
    for (int i = 0; i < MAX_PARTICIPANTS; i++) {
      seen[i] = new Seen();
    }
  }

  long job(int participant) {
    return memory.get(StagingDescriptor.participant(participant) + PARTICIPANT_JOB);
  }

  int participantOf(long someJob) {
    for (int i = 0; i < MAX_PARTICIPANTS; i++) {
      if (job(i) == someJob) {
        return i;
      }
    }
    throw new IllegalStateException("job " + someJob + " is no participant");
  }

  long pid(int participant) {
    return memory.get(StagingDescriptor.participant(participant) + PARTICIPANT_PID);
  }

  long cursor(int participant) {
    return memory.get(StagingDescriptor.participant(participant) + PARTICIPANT_CURSOR);
  }

  /** Live participants, this one included. */
  int count() {
    return (int) all().mapToLong(this::job).filter(j -> j != 0 && liveness.alive(j)).count();
  }

  /** Whether the participant runs and is not stopped. */
  boolean running(int participant) {
    long other = job(participant);
    if (other == 0 || !liveness.alive(other)) {
      return false;
    }
    Seen last = look(participant, other);
    synchronized (last) {
      return clock.nanos() - last.beatAt <= timeouts.beat().toNanos();
    }
  }

  /** Whether the participant may be expected to go on, so that waiting for it makes sense. */
  boolean waitable(int participant) {
    if (!running(participant)
        || memory.get(StagingDescriptor.participant(participant) + PARTICIPANT_BLOCKED) != 0) {
      return false;
    }
    Seen last = seen[participant];
    synchronized (last) {
      return clock.nanos() - last.cursorAt <= timeouts.lease().toNanos();
    }
  }

  private Seen look(int participant, long other) {
    Seen last = seen[participant];
    long beat = memory.get(StagingDescriptor.participant(participant) + PARTICIPANT_BEAT);
    long cursor = cursor(participant);
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
  boolean willFinish(long other) {
    if (other == job) {
      return true;
    }
    for (int i = 0; i < MAX_PARTICIPANTS; i++) {
      if (job(i) == other) {
        return running(i);
      }
    }
    return false;
  }

  /** Whether any running job prepares batches of this epoch. */
  boolean anyProduces(long epoch) {
    for (int i = 0; i < MAX_PARTICIPANTS; i++) {
      if (memory.get(StagingDescriptor.participant(i) + PARTICIPANT_PRODUCES) == epoch
          && running(i)) {
        return true;
      }
    }
    return false;
  }

  /** Changes whenever any job gets on. */
  long progress() {
    long sum = 0;
    for (int i = 0; i < MAX_PARTICIPANTS; i++) {
      sum = sum * 31 + cursor(i);
    }
    return sum;
  }

  /**
   * Frees what the dead hold. A participant's number is given to another job only where no job can
   * be about to take that one for the dead: alone, or while joining.
   */
  void buryDead() {
    if (all().anyMatch(this::isDead)) {
      liveness.alone(() -> all().filter(this::isDead).forEach(i -> bury(memory, i)));
    }
  }

  private static IntStream all() {
    return IntStream.range(0, MAX_PARTICIPANTS);
  }

  private boolean isDead(int participant) {
    long other = job(participant);
    return other != 0 && !liveness.alive(other);
  }

  /**
   * Makes a job the first participant that is free, or whose job is dead; alone, or while joining.
   * False if there are too many.
   */
  static boolean enter(StagingMemory memory, long job, long pid, LongPredicate alive) {
    for (int participant = 0; participant < MAX_PARTICIPANTS; participant++) {
      long at = StagingDescriptor.participant(participant);
      long before = memory.get(at + PARTICIPANT_JOB);
      if (before == 0 || !alive.test(before)) {
        bury(memory, participant);
        memory.set(at + PARTICIPANT_PID, pid);
        memory.set(at + PARTICIPANT_BEAT, 0);
        memory.set(at + PARTICIPANT_BLOCKED, 0);
        memory.set(at + PARTICIPANT_PRODUCES, 0);
        memory.set(at + PARTICIPANT_CURSOR, 0);
        memory.set(at + PARTICIPANT_JOB, job);
        return true;
      }
    }
    return false;
  }

  /** Takes the participant out of slots and epochs. */
  static void bury(StagingMemory memory, int participant) {
    for (int slot = 0; slot < MAX_SLOTS; slot++) {
      memory.remove(
          StagingDescriptor.slot(slot),
          participant,
          word -> StagingDescriptor.state(word) == READY);
    }
    for (int descriptor = 0; descriptor < 2; descriptor++) {
      memory.remove(memory.epoch(descriptor).state(), participant, Participants::isEntered);
    }
    memory.set(StagingDescriptor.participant(participant) + PARTICIPANT_JOB, 0);
  }

  /** Whether the word of an epoch is one in which participants are. */
  static boolean isEntered(long word) {
    return StagingDescriptor.state(word) == OPEN || StagingDescriptor.state(word) == SLIDING;
  }

  /** Whether the participant is in the set of a word. */
  static boolean contains(long word, int participant) {
    return (word & LOW_MASK & 1L << participant) != 0;
  }
}
