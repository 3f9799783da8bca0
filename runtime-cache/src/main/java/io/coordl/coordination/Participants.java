package io.coordl.coordination;

import static io.coordl.coordination.StagingDescriptor.LOW_MASK;
import static io.coordl.coordination.StagingDescriptor.MAX_PARTICIPANTS;
import static io.coordl.coordination.StagingDescriptor.MAX_SLOTS;
import static io.coordl.coordination.StagingDescriptor.OPEN;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_BEAT;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_BLOCKED;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_CURSOR;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_JOB;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_PID;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_PRODUCES;
import static io.coordl.coordination.StagingDescriptor.READY;
import static io.coordl.coordination.StagingDescriptor.SLIDING;

import io.coordl.host.JobLiveness;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;

/**
 * The jobs of a staging buffer, as observed by one of them. Each job decides locally, by its own
 * clock and from the changes it observes, which jobs are running and worth waiting for. A wrong
 * decision costs time, never correctness. Thread-safe.
 */
final class Participants {
  private final StagingMemory memory;
  private final JobLiveness liveness;
  private final Clock clock;
  private final Timeouts timeouts;
  private final long job;
  private final Observation[] observations = new Observation[MAX_PARTICIPANTS];

  /** Last observed state of a participant, and when it changed. */
  private static final class Observation {
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
      observations[i] = new Observation();
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
    throw new IllegalStateException("job " + someJob + " is not a participant");
  }

  long pid(int participant) {
    return memory.get(StagingDescriptor.participant(participant) + PARTICIPANT_PID);
  }

  long cursor(int participant) {
    return memory.get(StagingDescriptor.participant(participant) + PARTICIPANT_CURSOR);
  }

  /** Returns the number of live participants, including this one. */
  int count() {
    return (int) all().mapToLong(this::job).filter(id -> id != 0 && liveness.alive(id)).count();
  }

  /** Whether the participant's process is alive and not suspended. */
  boolean isRunning(int participant) {
    long other = job(participant);
    if (other == 0 || !liveness.alive(other)) {
      return false;
    }
    Observation last = observe(participant, other);
    synchronized (last) {
      return clock.nanos() - last.beatAt <= timeouts.beat().toNanos();
    }
  }

  /** Whether the participant is likely to progress, and is therefore worth waiting for. */
  boolean isProgressing(int participant) {
    if (!isRunning(participant)
        || memory.get(StagingDescriptor.participant(participant) + PARTICIPANT_BLOCKED) != 0) {
      return false;
    }
    Observation last = observations[participant];
    synchronized (last) {
      return clock.nanos() - last.cursorAt <= timeouts.lease().toNanos();
    }
  }

  private Observation observe(int participant, long other) {
    Observation last = observations[participant];
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

  /**
   * Whether a job is expected to finish the work that it has started; true for this job and for
   * running jobs.
   */
  boolean willFinish(long other) {
    if (other == job) {
      return true;
    }
    for (int i = 0; i < MAX_PARTICIPANTS; i++) {
      if (job(i) == other) {
        return isRunning(i);
      }
    }
    return false;
  }

  /** Whether any running job prepares batches of this epoch. */
  boolean anyProduces(long epoch) {
    for (int i = 0; i < MAX_PARTICIPANTS; i++) {
      if (memory.get(StagingDescriptor.participant(i) + PARTICIPANT_PRODUCES) == epoch
          && isRunning(i)) {
        return true;
      }
    }
    return false;
  }

  /** Returns a value that changes whenever any job progresses. */
  long progress() {
    long sum = 0;
    for (int i = 0; i < MAX_PARTICIPANTS; i++) {
      sum = sum * 31 + cursor(i);
    }
    return sum;
  }

  /**
   * Releases the slots and epochs of dead jobs. A participant number is reused only where no job
   * can mistake its new owner for the dead one: under the exclusive lock, or while joining.
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
   * Gives a job the first participant number that is free or belongs to a dead job. Call only under
   * the exclusive lock, or while joining. False if all numbers are taken.
   */
  static boolean enter(StagingMemory memory, long job, long pid, LongPredicate alive) {
    for (int participant = 0; participant < MAX_PARTICIPANTS; participant++) {
      long at = StagingDescriptor.participant(participant);
      long previous = memory.get(at + PARTICIPANT_JOB);
      if (previous == 0 || !alive.test(previous)) {
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

  /** Removes the participant from all slots and epochs, and frees its number. */
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

  /** Whether an epoch in this state has participants. */
  static boolean isEntered(long word) {
    return StagingDescriptor.state(word) == OPEN || StagingDescriptor.state(word) == SLIDING;
  }

  /** Whether the word's set contains the participant. */
  static boolean contains(long word, int participant) {
    return (word & LOW_MASK & 1L << participant) != 0;
  }
}
