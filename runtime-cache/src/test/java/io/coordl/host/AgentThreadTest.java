package io.coordl.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class AgentThreadTest {
  @Test
  void anAgentThreadInheritsNothingFromItsCreator() throws InterruptedException {
    ThreadGroup programs = new ThreadGroup("program");
    InheritableThreadLocal<String> local = new InheritableThreadLocal<>();
    AtomicReference<String> seen = new AtomicReference<>("nothing yet");
    AtomicReference<AgentThread> created = new AtomicReference<>();
    Thread program =
        new Thread(
            programs,
            () -> {
              local.set("program's");
              created.set(new AgentThread("coordl-test", () -> seen.set(local.get())));
            });
    program.start();
    program.join();
    AgentThread thread = created.get();
    assertThat(thread.getThreadGroup().getParent()).isNull();
    assertThat(thread.isDaemon()).isTrue();
    assertThat(thread.getContextClassLoader()).isNull();
    thread.start();
    thread.join();
    assertThat(seen).hasValue(null);
  }

  @Test
  void onlyTheAgentInterruptsAnAgentThread() throws InterruptedException {
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger interrupted = new AtomicInteger();
    AgentThread thread =
        new AgentThread(
            "coordl-test",
            () -> {
              try {
                go.await();
              } catch (InterruptedException e) {
                interrupted.incrementAndGet();
              }
            });
    thread.start();
    thread.interrupt();
    assertThat(thread.isInterrupted()).isFalse();

    AgentThread other = new AgentThread("coordl-other", thread::interrupt);
    other.start();
    other.join();
    thread.join();
    assertThat(interrupted).hasValue(1);
  }

  @Test
  void aFailedRoundIsSurvived() throws InterruptedException {
    AtomicInteger rounds = new AtomicInteger();
    AgentThread thread =
        new AgentThread(
            "coordl-test",
            () -> {
              for (int i = 0; i < 3; i++) {
                AgentThread.survive(new IllegalStateException("expected"));
                rounds.incrementAndGet();
              }
            });
    thread.start();
    thread.join();
    assertThat(rounds).hasValue(3);
  }

  /** The program's own handler may end the JVM. */
  @Test
  void anUncaughtExceptionIsAFaultAndSkipsTheProgramsHandler() throws InterruptedException {
    Queue<String> faults = new ConcurrentLinkedQueue<>();
    Queue<Throwable> handled = new ConcurrentLinkedQueue<>();
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> handled.add(failure));
    Bridge.install(
        SpanSink.NONE, ItemSource.NONE, (where, cause, tripped) -> faults.add(where + cause));
    try {
      OutOfMemoryError failure = new OutOfMemoryError("expected");
      AgentThread thread =
          new AgentThread(
              "coordl-test",
              () -> {
                throw failure;
              });
      thread.start();
      thread.join();
      assertThat(handled).isEmpty();
      assertThat(faults).containsExactly("coordl-test" + failure);
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }
}
