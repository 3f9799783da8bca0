package io.coordl.attribution;

/** Hears of every duration, whatever the event thresholds; called on the program's threads. */
public interface Durations {
  /** What is measured, in the order of a batch's life; questions to other hosts by answer. */
  enum Kind {
    FETCH,
    DECODE,
    TRANSFORM,
    BATCH,
    STALL,
    STEP,
    CHECKPOINT,
    PEER_FOUND,
    PEER_ABSENT,
    PEER_KEPT,
    PEER_LATE,
    PEER_FAILED;

    public String label() {
      return name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
    }
  }

  void record(Kind kind, long nanos);

  /** An epoch or evaluation ended; what was recorded since the last end is of it. */
  void epochEnded(long epoch);
}
