package io.coordl.peers;

import java.time.Duration;

/**
 * Time limits of the engines; tests use other values.
 *
 * @param progress time in which an answer must arrive, or {@link #WINDOW} bytes of an item must
 *     transfer; otherwise the call is late
 * @param connect time to establish a connection
 * @param faults total time that late and failed calls may cost one fetch
 * @param probe pause between two probes of a host that failed
 * @param handshake time for an unauthenticated client to complete its handshake
 * @param claimant maximum time between a claimant's messages; after that, it loses its claim
 * @param stalled time for a client to take a piece of an item
 * @param hosts time to wait for the awaited hosts to join
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
