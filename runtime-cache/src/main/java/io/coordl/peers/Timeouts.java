package io.coordl.peers;

import java.time.Duration;

/**
 * Time limits of the engines; tests use other values.
 *
 * @param progress limit without progress, after which a call is late; {@link #WINDOW} bytes of an
 *     item must transfer in this time
 * @param connect for a connection to be established
 * @param faults for all late and failed calls of one fetch together
 * @param probe between two probes of a host that failed
 * @param handshake for an unauthenticated client to complete its handshake
 * @param claimant for the next message from a claimant, which otherwise loses its claim
 * @param stalled for a client to take a piece of an item
 * @param hosts for the awaited hosts to join
 */
public record Timeouts(
    Duration progress,
    Duration connect,
    Duration faults,
    Duration probe,
    Duration handshake,
    Duration claimant,
    Duration stalled,
    Duration hosts) {
  /** Bytes of an item that must transfer before each deadline. */
  public static final int WINDOW = 64 << 10;

  /**
   * Multiplies the waits for answers, for tests that count reads: on a machine too busy to answer
   * in time, items are rightly read twice.
   */
  private static final int PATIENCE = Math.max(1, Integer.getInteger("coordl.peer.patience", 1));

  public static final Timeouts USUAL =
      new Timeouts(
          patient(400),
          patient(300),
          patient(550),
          Duration.ofSeconds(1),
          patient(5_000),
          patient(500),
          patient(2_000),
          Duration.ofSeconds(60).multipliedBy(PATIENCE));

  /** Limit for the first answer of a host that has just joined and must first load classes. */
  public static final Duration GREETING = patient(5_000);

  private static Duration patient(long millis) {
    return Duration.ofMillis(millis * PATIENCE);
  }
}
