package io.coordl.telemetry.attribution;

/**
 * Receives every duration, independent of event thresholds; called on the thread that measured it.
 */
public interface Durations {
  /**
   * Kinds of durations: first those of a batch, in the order of its life, then checkpoints, then
   * requests to other hosts, by answer.
   */
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

  /** Ends an epoch or evaluation, to which all durations recorded since the previous end belong. */
  void epochEnded(long epoch);
}
