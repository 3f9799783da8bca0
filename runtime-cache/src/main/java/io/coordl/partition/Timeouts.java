package io.coordl.partition;

import java.time.Duration;

/**
 * How long the engines wait for whom; tests choose other times.
 *
 * @param progress without any, a call is late; and an item has to cross at {@link #WINDOW} bytes in
 *     that time
 * @param connect for a connection to come about
 * @param faults what the late and failed calls of one fetch may cost together
 * @param probe between two looks at a host that was given up
 * @param handshake for a stranger to say who it is
 * @param claimant without a sign of life from it, an owner gives its claim up
 * @param stalled for a client to take a piece of an item
 * @param hosts for the awaited ones to come
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
  /** Of an item, so many bytes have to cross between two deadlines. */
  public static final int WINDOW = 64 << 10;

  /**
   * Times the waits for others' answers. For tests that count what is read: on a machine that is
   * too busy to answer in time, items are read twice, as they should be.
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
          Duration.ofSeconds(60));

  private static Duration patient(long millis) {
    return Duration.ofMillis(millis * PATIENCE);
  }
}
