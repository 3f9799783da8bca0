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
 * @param idle after which an owner closes a connection that nobody uses
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
    Duration idle,
    Duration hosts) {
  /** Of an item, so many bytes have to cross between two deadlines. */
  public static final int WINDOW = 64 << 10;

  public static final Timeouts USUAL =
      new Timeouts(
          Duration.ofMillis(400),
          Duration.ofMillis(300),
          Duration.ofMillis(550),
          Duration.ofSeconds(1),
          Duration.ofSeconds(5),
          Duration.ofMillis(500),
          Duration.ofSeconds(2),
          Duration.ofMinutes(5),
          Duration.ofSeconds(60));

  /**
   * The usual times; those of others' answers times the system property {@code
   * coordl.peer.patience}. That is for tests that count what is read: on a machine that is too busy
   * to answer in time, items are read twice, as they should be.
   */
  public static Timeouts usual() {
    return USUAL.times(Math.max(1, Integer.getInteger("coordl.peer.patience", 1)));
  }

  private Timeouts times(int factor) {
    return new Timeouts(
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
}
