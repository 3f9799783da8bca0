package io.coordl.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The program and the agent's threads after the agent is switched off. */
class ProducersTest {
  @BeforeEach
  void install() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    Bridge.install(LibraryHooks.NONE);
  }

  @AfterEach
  void installAgain() {
    install();
  }

  private static @Nullable InterceptedCall call() {
    return Bridge.enter("interceptor", String.class, "close", "a manager", new Object[0]);
  }

  /** An agent thread that stays in the program's code until released. */
  private static final class Inside {
    private final CountDownLatch out = new CountDownLatch(1);
    private final Thread thread;

    Inside() throws InterruptedException {
      CountDownLatch in = new CountDownLatch(1);
      thread =
          new Thread(
              () -> {
                if (Producers.enter()) {
                  in.countDown();
                  try {
                    out.await();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  } finally {
                    Producers.exit();
                  }
                }
              });
      thread.start();
      in.await();
    }

    void comesOut() throws InterruptedException {
      out.countDown();
      thread.join();
    }
  }

  private static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      assertThat(thread.isAlive()).as("waits").isTrue();
      Thread.onSpinWait();
    }
  }

  @Test
  void afterATripNoAgentThreadEntersTheProgramsCode() {
    assertThat(Producers.enter()).isTrue();
    Producers.exit();
    Bridge.trip();
    assertThat(Producers.enter()).isFalse();
    assertThat(Producers.areOff()).isTrue();
    assertThat(call()).isNull();
  }

  @Test
  void afterATripTheNextCallWaitsForAgentThreadsInTheProgramsCode() throws InterruptedException {
    Inside inside = new Inside();
    Bridge.trip();
    Thread program = new Thread(ProducersTest::call);
    program.start();
    awaitWaiting(program);
    inside.comesOut();
    program.join();
  }

  @Test
  void theCallThatTripsTheAgentWaitsToo() throws InterruptedException {
    Inside inside = new Inside();
    Bridge.install(
        (interceptor, declaring, method, self, arguments) -> {
          Bridge.trip();
          throw new IllegalStateException("one too many");
        });
    Thread program = new Thread(ProducersTest::call);
    program.start();
    awaitWaiting(program);
    inside.comesOut();
    program.join();
  }

  @Test
  void anAgentThreadDoesNotWaitForItself() {
    assertThat(Producers.enter()).isTrue();
    Bridge.trip();
    assertThat(call()).isNull();
    Producers.exit();
  }

  @Test
  void aHungAgentThreadIsWaitedForOnceAndInterruptsAreKept() throws InterruptedException {
    Inside inside = new Inside();
    Bridge.trip();
    Thread.currentThread().interrupt();
    Producers.awaitNone(TimeUnit.MILLISECONDS.toNanos(20));
    assertThat(Thread.interrupted()).isTrue();
    assertThat(call()).as("without the 30 s wait").isNull();
    assertThat(inside.thread.isAlive()).isTrue();
    inside.comesOut();
  }
}
