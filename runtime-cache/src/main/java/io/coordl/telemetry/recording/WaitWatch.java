package io.coordl.telemetry.recording;

import io.coordl.telemetry.advice.OpenWaitText;
import io.coordl.telemetry.attribution.OpenWait;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.OpenWaitEvent;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Names a wait for a batch that lasts far longer than any before, once: in the log, and with its
 * stacks in the recording. Has no thread: callers look about once a second. Safe for concurrent
 * use.
 */
final class WaitWatch {
  private final SpanRecorder spans;
  private final Consumer<String> say;
  private @Nullable OpenWaitEvent named;
  private long since;

  WaitWatch(SpanRecorder spans, Consumer<String> say) {
    this.spans = spans;
    this.say = say;
  }

  /** Looks whether a wait is to be named now. */
  void look() {
    OpenWaitEvent found = find();
    if (found != null) {
      say.accept(OpenWaitText.soFar(found));
    }
  }

  /** Records it without a word, as the job ends and its summary will name it. */
  void lookAtEnd() {
    find();
  }

  /** Null if there is none, or if it has been named. */
  private synchronized @Nullable OpenWaitEvent find() {
    OpenWait wait = spans.openWait();
    if (wait == null) {
      named = null;
      return null;
    }
    OpenWaitEvent known = named;
    if (known != null && since == wait.since()) {
      known.waited = wait.nanos();
      return null;
    }
    named = null;
    if (!JobStatisticsEvent.isTooLong(wait.nanos(), wait.longest())) {
      return null;
    }
    OpenWaitEvent event = wait.event();
    named = event;
    since = wait.since();
    spans.events().write(event, wait.since(), wait.since() + wait.nanos());
    return event;
  }

  /** The wait that was named and has not ended; null if there is none. */
  synchronized @Nullable OpenWaitEvent open() {
    find();
    return named;
  }
}
