package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.Waits;
import io.coordl.bridge.InterceptedCall;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The gate admits as many threads as the phase allows; none waits forever. */
class GateTest {
  private final Gate gate = new Gate();

  private Thread entering(CountDownLatch entered) {
    Thread thread =
        new Thread(
            () -> {
              gate.enter();
              entered.countDown();
            });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
  }

  @Test
  void aThreadBeyondTheLimitWaits() throws InterruptedException {
    gate.narrow(1);
    InterceptedCall first = gate.enter();
    CountDownLatch entered = new CountDownLatch(1);
    awaitWaiting(entering(entered));

    assertThat(first.result("batch")).isEqualTo("batch");
    assertThat(entered.await(Waits.LONG.toMinutes(), TimeUnit.MINUTES)).isTrue();
  }

  @Test
  void aThreadThatThrowsReleasesItsTurn() throws InterruptedException {
    gate.narrow(1);
    InterceptedCall first = gate.enter();
    CountDownLatch entered = new CountDownLatch(1);
    awaitWaiting(entering(entered));

    first.failed();
    assertThat(entered.await(Waits.LONG.toMinutes(), TimeUnit.MINUTES)).isTrue();
  }

  @Test
  void openingReleasesAllThreads() throws InterruptedException {
    gate.narrow(1);
    gate.enter();
    CountDownLatch entered = new CountDownLatch(2);
    awaitWaiting(entering(entered));
    awaitWaiting(entering(entered));

    gate.open();
    assertThat(entered.await(Waits.LONG.toMinutes(), TimeUnit.MINUTES)).isTrue();
  }

  @Test
  void anInterruptedThreadPassesAndStaysInterrupted() throws InterruptedException {
    gate.narrow(1);
    gate.enter();
    AtomicBoolean interrupted = new AtomicBoolean();
    CountDownLatch entered = new CountDownLatch(1);
    Thread waiting =
        new Thread(
            () -> {
              gate.enter();
              interrupted.set(Thread.currentThread().isInterrupted());
              entered.countDown();
            });
    waiting.setDaemon(true);
    waiting.start();
    awaitWaiting(waiting);

    waiting.interrupt();
    assertThat(entered.await(Waits.LONG.toMinutes(), TimeUnit.MINUTES)).isTrue();
    assertThat(interrupted).isTrue();
  }

  @Test
  void closingWaitsForThreadsInsideAndAdmitsNone() throws InterruptedException {
    InterceptedCall inside = gate.enter();
    Thread closing = new Thread(() -> gate.close(TimeUnit.DAYS.toNanos(1)));
    closing.setDaemon(true);
    closing.start();
    while (closing.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    CountDownLatch entered = new CountDownLatch(1);
    awaitWaiting(entering(entered));

    inside.result("batch");
    closing.join();
    assertThat(entered.getCount()).isEqualTo(1);
    gate.open();
    assertThat(entered.await(Waits.LONG.toMinutes(), TimeUnit.MINUTES)).isTrue();
  }

  @Test
  void closingTimesOut() {
    InterceptedCall inside = gate.enter();
    gate.close(1);
    assertThat(inside.result("batch")).isEqualTo("batch");
  }

  @Test
  void turnsAreFirstComeFirstServed() throws InterruptedException {
    gate.narrow(1);
    InterceptedCall first = gate.enter();
    CountDownLatch entered = new CountDownLatch(1);
    Thread second = entering(entered);
    awaitWaiting(second);
    CountDownLatch later = new CountDownLatch(1);
    Thread third = entering(later);
    awaitWaiting(third);

    first.result("batch");
    assertThat(entered.await(Waits.LONG.toMinutes(), TimeUnit.MINUTES)).isTrue();
    awaitWaiting(third);
    assertThat(later.getCount()).isEqualTo(1);
  }

  @Test
  void aThreadInsideMayEnterAgain() {
    gate.narrow(1);
    InterceptedCall turn = gate.enter();
    assertThat(gate.enter()).isNull();
    assertThat(turn.result("batch")).isEqualTo("batch");
    assertThat(gate.enter()).isNotNull();
  }
}
