package io.coordl.partition;

/** Hears what was asked of other hosts, for the recording. Safe for concurrent use. */
@FunctionalInterface
public interface PeerSink {
  enum Answer {
    /** With the item's bytes. */
    FOUND,
    /** That it does not have them. */
    ABSENT,
    /** It took the item's bytes, in order to keep them. */
    KEPT,
    /** Not within the deadline. */
    LATE,
    /** Not at all: no connection, a broken one, or something that is no answer. */
    FAILED
  }

  /**
   * One question and its answer.
   *
   * @param peer name of the host asked
   * @param startNanos as of {@link System#nanoTime}
   * @param bytes of the item that crossed the network, either way
   */
  void asked(String peer, long startNanos, long endNanos, long bytes, Answer answer);
}
