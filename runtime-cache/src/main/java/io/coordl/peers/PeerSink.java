package io.coordl.peers;

/**
 * Receives each request to another host or to Redis, for the recording. Safe for concurrent use.
 */
@FunctionalInterface
public interface PeerSink {
  enum Answer {
    /** The item's bytes. */
    FOUND,
    /** The peer does not have the item, or did not cache the bytes that it was sent. */
    ABSENT,
    /** The peer accepted the item's bytes and caches them. */
    KEPT,
    /** No answer within the deadline. */
    LATE,
    /** No valid answer: no connection, a broken one, or a malformed answer. */
    FAILED
  }

  /**
   * Records one request and its answer.
   *
   * @param peer name of the host or Redis server
   * @param startNanos start of the request, on the clock of {@link System#nanoTime}
   * @param bytes size of the item that was sent in either direction; 0 if none was
   */
  void asked(String peer, long startNanos, long endNanos, long bytes, Answer answer);
}
