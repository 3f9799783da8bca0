package io.coordl.partition.hosts;

import io.coordl.partition.Patience;
import java.time.Duration;

/**
 * How long is waited for whom; tests choose other times.
 *
 * @param progress without any, a call is late; and an item has to cross at {@link Wire#WINDOW}
 *     bytes in that time
 * @param connect for a connection to come about
 * @param faults what the late and failed calls of one fetch may cost together
 * @param probe between two looks at a peer that was given up
 * @param handshake for a stranger to say who he is
 * @param claimant without a sign of life from him, an owner gives his claim up
 * @param stalled for a client to take {@link Wire#PIECE} bytes
 * @param idle after which an owner closes a connection that nobody uses
 * @param hosts for the awaited ones to come
 */
record Timing(
    Duration progress,
    Duration connect,
    Duration faults,
    Duration probe,
    Duration handshake,
    Duration claimant,
    Duration stalled,
    Duration idle,
    Duration hosts) {
  static final Timing USUAL =
      new Timing(
          Duration.ofMillis(400),
          Duration.ofMillis(300),
          Duration.ofMillis(550),
          Duration.ofSeconds(1),
          Duration.ofSeconds(5),
          Duration.ofMillis(500),
          Duration.ofSeconds(2),
          Duration.ofMinutes(5),
          Duration.ofSeconds(60));

  /** The usual times, or longer ones for tests that count ({@link Patience}). */
  static Timing usual() {
    return USUAL.times(Patience.factor());
  }

  private Timing times(int factor) {
    return new Timing(
        progress.multipliedBy(factor),
        connect.multipliedBy(factor),
        faults.multipliedBy(factor),
        probe,
        handshake.multipliedBy(factor),
        claimant.multipliedBy(factor),
        stalled.multipliedBy(factor),
        idle,
        hosts);
  }

  /** Of a fetch's allowance for faults, less than this is not worth another call. */
  static final Duration SHORTEST = Duration.ofMillis(50);

  /** Between two signs of life of a claimant who is reading storage. */
  static final Duration SIGN = Duration.ofMillis(100);

  /** A client closes a connection that it has not used for so long. */
  static final Duration UNUSED = Duration.ofSeconds(30);

  /** How long an owner keeps a claim waiting that somebody else has; the client then asks again. */
  static final Duration HOLD = Duration.ofMillis(100);
}
