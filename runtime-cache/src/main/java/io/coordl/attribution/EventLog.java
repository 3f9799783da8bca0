package io.coordl.attribution;

import io.coordl.event.EventSink;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * The way of an event into the recording. A recording starts beside the job, which does not wait
 * for it: events from before are kept (at most {@value #MAX_EARLY}) and written once it runs. Safe
 * for concurrent use.
 */
public final class EventLog implements EventSink {
  private static final int MAX_EARLY = 10_000;
  private static final EventSink NOBODY = (event, start, end) -> {};

  private volatile @Nullable EventSink sink;
  private List<Early> early = new ArrayList<>();

  private record Early(Supplier<Event> event, long start, long end) {}

  /** The recording runs: writes what has waited, and from now on at once. */
  public void open(EventSink to) {
    List<Early> waiting;
    synchronized (this) {
      sink = to;
      waiting = early;
      early = List.of();
    }
    waiting.forEach(one -> write(to, one));
  }

  /** There is no recording: what waited is dropped, as is what comes. */
  public void close() {
    open(NOBODY);
  }

  /** Whether a recording runs. */
  public boolean isOpen() {
    EventSink to = sink;
    return to != null && to != NOBODY;
  }

  /** Writes an event now, or once a recording that is being started runs. */
  @Override
  public void write(Event event, long start, long end) {
    write(() -> event, start, end);
  }

  /** The same; it is made then, since a class that is being loaded is no place to load others. */
  public void write(Supplier<Event> event, long start, long end) {
    Early one = new Early(event, start, end);
    EventSink to = sink;
    if (to == null) {
      to = keep(one);
    }
    if (to != null) {
      write(to, one);
    }
  }

  /** For nobody it is not even made. */
  private static void write(EventSink to, Early one) {
    if (to != NOBODY) {
      to.write(one.event.get(), one.start, one.end);
    }
  }

  /** Returns the sink if there is one meanwhile. */
  private synchronized @Nullable EventSink keep(Early event) {
    if (sink == null && early.size() < MAX_EARLY) {
      early.add(event);
    }
    return sink;
  }
}
