package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.host.AgentThread;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Messages delay the program only briefly; a message about a fault says what the affected thread
 * does next.
 */
class AgentLogTest {
  /** Longer than any machine needs to print a line. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final PrintStream before = System.err;

  /** Waits for lines that are still queued, which would be printed during the next test. */
  @AfterEach
  void restore() throws InterruptedException {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals("coordl-print")) {
        thread.join(Duration.ofMinutes(1).toMillis());
      }
    }
    System.setErr(before);
  }

  /**
   * Returns a stream that, at each line, counts down {@code printing} and then waits for {@code
   * open}.
   */
  private static PrintStream blocking(
      OutputStream to, CountDownLatch printing, CountDownLatch open) {
    return new PrintStream(to, true, StandardCharsets.UTF_8) {
      @Override
      public void println(String line) {
        printing.countDown();
        boolean interrupted = false;
        while (open.getCount() > 0) {
          try {
            open.await();
          } catch (InterruptedException e) {
            interrupted = true;
          }
        }
        super.println(line);
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    };
  }

  @Test
  void aBlockedStandardErrorDoesNotBlockTheProgramForever() throws Exception {
    CountDownLatch printing = new CountDownLatch(1);
    CountDownLatch open = new CountDownLatch(1);
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(blocking(printed, printing, open));
    AgentLog log = new AgentLog();
    CountDownLatch calls = new CountDownLatch(2);
    Thread program =
        new Thread(
            () -> {
              for (int i = 0; i < 100; i++) {
                log.say("line " + i);
              }
              calls.countDown();
              log.fault("open /a", new IllegalStateException("x"), false);
              calls.countDown();
            });
    program.start();
    program.join(); // If the log blocks, the test times out.
    assertThat(calls.getCount()).isZero();
    open.countDown();
  }

  @Test
  void aFaultOnAnAgentThreadMentionsNoCallOfTheProgram() throws Exception {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    AgentLog log = new AgentLog();
    CountDownLatch done = new CountDownLatch(1);
    new AgentThread(
            "coordl-test",
            () -> {
              log.fault("coordl-test", new IllegalStateException("x"), false);
              done.countDown();
            })
        .start();
    done.await();
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains("the agent's thread skips this operation, and the program continues")
        .doesNotContain("own call");
  }

  @Test
  void anInterruptedThreadStaysInterruptedAndItsLineIsPrinted() {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    Thread.currentThread().interrupt();
    new AgentLog().say("a line");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(printed.toString(StandardCharsets.UTF_8)).isEqualTo("[coordl] a line\n");
  }

  @Test
  void linesAfterASlowLineArePrintedInOrder() throws InterruptedException {
    CountDownLatch printing = new CountDownLatch(1);
    CountDownLatch open = new CountDownLatch(1);
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(blocking(printed, printing, open));
    AgentLog log = new AgentLog(() -> 0); // Frozen clock.
    log.print("epoch 1", Duration.ZERO);
    printing.await();
    log.print("epoch 2", Duration.ZERO);
    open.countDown();
    log.print("summary", PATIENCE);
    assertThat(printed.toString(StandardCharsets.UTF_8)).isEqualTo("epoch 1\nepoch 2\nsummary\n");
  }

  @Test
  void nobodyWaitsBehindAStuckLine() throws InterruptedException {
    CountDownLatch printing = new CountDownLatch(1);
    CountDownLatch open = new CountDownLatch(1);
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    AtomicLong now = new AtomicLong();
    System.setErr(blocking(printed, printing, open));
    AgentLog log = new AgentLog(now::get);
    log.print("epoch 1", Duration.ZERO);
    printing.await();
    now.set(TimeUnit.SECONDS.toNanos(1));
    log.print("lost", Duration.ofDays(1));
    now.set(0);
    open.countDown();
    log.print("summary", PATIENCE);
    assertThat(printed.toString(StandardCharsets.UTF_8)).isEqualTo("epoch 1\nsummary\n");
  }

  @Test
  void aLineThatWaitedLongForItsTurnIsNotStuck() throws InterruptedException {
    CountDownLatch first = new CountDownLatch(1);
    CountDownLatch second = new CountDownLatch(1);
    CountDownLatch printing = new CountDownLatch(1);
    CountDownLatch printingAgain = new CountDownLatch(1);
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    AtomicLong now = new AtomicLong();
    AgentLog log = new AgentLog(now::get);
    System.setErr(blocking(printed, printing, first));
    log.print("epoch 1", Duration.ZERO);
    printing.await();
    System.setErr(blocking(printed, printingAgain, second));
    log.print("epoch 2", Duration.ZERO);
    now.set(TimeUnit.SECONDS.toNanos(2));
    first.countDown();
    printingAgain.await();
    log.print("epoch 3", Duration.ZERO);
    second.countDown();
    log.print("summary", PATIENCE);
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .isEqualTo("epoch 1\nepoch 2\nepoch 3\nsummary\n");
  }

  @Test
  void aLineLoggedByStandardErrorItselfDoesNotDeadlock() {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    AgentLog log = new AgentLog();
    System.setErr(
        new PrintStream(printed, true, StandardCharsets.UTF_8) {
          @Override
          public void println(String line) {
            if (line.equals("outer")) {
              log.print("inner", Duration.ofDays(1));
            }
            super.println(line);
          }
        });
    log.print("outer", PATIENCE);
    log.print("last", PATIENCE);
    assertThat(printed.toString(StandardCharsets.UTF_8)).isEqualTo("outer\ninner\nlast\n");
  }
}
