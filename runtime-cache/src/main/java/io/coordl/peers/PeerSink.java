package io.coordl.peers;

/** Receives each request to another host, for the recording. Safe for concurrent use. */
@FunctionalInterface
public interface PeerSink {
  enum Answer {
    /** The item's bytes. */
    FOUND,
    /** The peer does not have the item. */
    ABSENT,
    /** The peer accepted the item's bytes and keeps them. */
    KEPT,
    /** No answer within the deadline. */
    LATE,
    /** No valid answer: no connection, a broken one, or a malformed answer. */
    FAILED
  }

  /**
   * Records one request and its answer.
   *
   * @param peer name of the host asked
   * @param startNanos as of {@link System#nanoTime}
   * @param bytes of the item that crossed the network, either way
   */
  void asked(String peer, long startNanos, long endNanos, long bytes, Answer answer);
}
