package io.coordl.bridge;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Faults of the agent do not reach the program; Thread.stop does. */
@SuppressWarnings({"deprecation", "removal"}) // Thread.stop throws ThreadDeath on JDK 17.
class BridgeTest {
  @AfterEach
  void reset() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
  }

  private static void reporting(Error thrown) {
    Bridge.install(
        SpanSink.NONE,
        ItemSource.NONE,
        (where, cause, tripped) -> {
          throw thrown;
        });
  }

  @Test
  void aThreadStoppedWhileItReportsAFaultEnds() {
    reporting(new ThreadDeath());
    assertThatThrownBy(() -> Bridge.fault("a test", new IllegalStateException()))
        .isInstanceOf(ThreadDeath.class);
  }

  @Test
  void aThreadDeathIsNotAFaultEvenAsACause() {
    reporting(new AssertionError("a fault"));
    assertThatThrownBy(
            () -> Bridge.fault("a test", new InvocationTargetException(new ThreadDeath())))
        .isInstanceOf(ThreadDeath.class);
  }

  @Test
  void aFailureToReportDoesNotReachTheProgram() {
    reporting(new OutOfMemoryError());
    assertThatCode(() -> Bridge.fault("a test", new IllegalStateException()))
        .doesNotThrowAnyException();
  }
}
