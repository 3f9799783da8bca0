package io.coordl.telemetry.recording;

import io.coordl.telemetry.advice.OpenWaitText;
import io.coordl.telemetry.attribution.OpenWait;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.OpenWaitEvent;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reports, once, each wait for a batch that lasts far longer than any before: in the log, and with
 * thread stacks in the recording. Has no thread of its own; callers trigger a check about once a
 * second. Safe for concurrent use.
 */
final class WaitWatch {
  private final SpanRecorder spans;
  private final Consumer<String> say;
  private @Nullable OpenWaitEvent reported;
  private boolean isLogged;
  private long since;

  WaitWatch(SpanRecorder spans, Consumer<String> say) {
    this.spans = spans;
    this.say = say;
  }

  /** Records and logs a wait that has become too long. */
  void check() {
    OpenWaitEvent unlogged = takeUnlogged();
    if (unlogged != null) {
      say.accept(OpenWaitText.soFar(unlogged));
    }
  }

  /** Records a wait that has become too long; the summary at exit names it instead of the log. */
  void checkAtEnd() {
    update();
  }

  /**
   * Returns a wait that has become too long, to be logged now; null if there is none or it was
   * logged.
   */
  private synchronized @Nullable OpenWaitEvent takeUnlogged() {
    update();
    OpenWaitEvent open = reported;
    if (open == null || isLogged) {
      return null;
    }
    isLogged = true;
    return open;
  }

  /** Records a wait that has become too long, unless it was recorded before. */
  private synchronized void update() {
    OpenWait wait = spans.openWait();
    if (wait == null) {
      reported = null;
      return;
    }
    OpenWaitEvent known = reported;
    if (known != null && since == wait.since()) {
      known.waited = wait.nanos();
      return;
    }
    reported = null;
    if (JobStatisticsEvent.isTooLong(wait.nanos(), wait.longest())) {
      OpenWaitEvent event = wait.event();
      reported = event;
      isLogged = false;
      since = wait.since();
      spans.events().write(event, wait.since(), wait.since() + wait.nanos());
    }
  }

  /** Returns the wait that has become too long and has not ended; null if there is none. */
  synchronized @Nullable OpenWaitEvent open() {
    update();
    return reported;
  }
}
