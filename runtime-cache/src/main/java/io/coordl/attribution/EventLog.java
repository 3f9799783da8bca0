package io.coordl.attribution;

import io.coordl.event.EventSink;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The way of an event into the recording. A recording starts beside the job, which does not wait
 * for it: events from before are kept (at most {@value #MAX_EARLY}) and written once it runs. Safe
 * for concurrent use.
 */
public final class EventLog {
  private static final int MAX_EARLY = 10_000;

  private volatile @Nullable EventSink sink;
  private volatile boolean closed;
  private List<Consumer<EventSink>> early = new ArrayList<>();

  /** The recording runs: writes what has waited, and from now on at once. */
  public void open(EventSink to) {
    List<Consumer<EventSink>> waiting;
    synchronized (this) {
      sink = to;
      waiting = early;
      early = List.of();
    }
    waiting.forEach(event -> event.accept(to));
  }

  /** There is no recording: what waited is dropped, as is what comes. */
  public synchronized void close() {
    closed = true;
    early = List.of();
  }

  /** Where events go now; null while there is no recording. */
  public @Nullable EventSink sink() {
    return sink;
  }

  /** Writes an event now, or once a recording that is being started runs. */
  public void emit(Consumer<EventSink> event) {
    EventSink to = sink;
    if (to == null && !closed) {
      to = keep(event);
    }
    if (to != null) {
      event.accept(to);
    }
  }

  /** Returns the sink if there is one meanwhile. */
  private synchronized @Nullable EventSink keep(Consumer<EventSink> event) {
    if (sink == null && !closed && early.size() < MAX_EARLY) {
      early.add(event);
    }
    return sink;
  }

  /** Writes an event if the recording runs; drops it if not. */
  public void emitNow(Consumer<EventSink> event) {
    EventSink to = sink;
    if (to != null) {
      event.accept(to);
    }
  }
}
