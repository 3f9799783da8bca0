package io.coordl.telemetry.attribution;

import io.coordl.telemetry.event.EventSink;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * Passes events to the recording. The recording starts in the background, so earlier events are
 * kept (at most {@value #MAX_EARLY}) and written once it runs. Safe for concurrent use.
 */
public final class EventLog implements EventSink {
  private static final int MAX_EARLY = 10_000;
  private static final EventSink NOBODY = (event, start, end) -> {};

  private volatile @Nullable EventSink sink;
  private List<Early> early = new ArrayList<>();

  private record Early(Supplier<Event> event, long start, long end) {}

  /** Called once the recording runs: writes the kept events, and later ones at once. */
  public void open(EventSink to) {
    List<Early> waiting;
    synchronized (this) {
      sink = to;
      waiting = early;
      early = List.of();
    }
    waiting.forEach(one -> write(to, one));
  }

  /** Called if there is no recording: drops the kept events and all later ones. */
  public void close() {
    open(NOBODY);
  }

  /** Whether a recording runs. */
  public boolean isOpen() {
    EventSink to = sink;
    return to != null && to != NOBODY;
  }

  /** Writes an event now, or once the recording runs. */
  @Override
  public void write(Event event, long start, long end) {
    write(() -> event, start, end);
  }

  /**
   * As above, but creates the event only when it is written: no other class may be loaded while a
   * class is being loaded.
   */
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

  /** Without a recording, the event is not even created. */
  private static void write(EventSink to, Early one) {
    if (to != NOBODY) {
      to.write(one.event.get(), one.start, one.end);
    }
  }

  /** Keeps the event, or returns the sink if it has been set in the meantime. */
  private synchronized @Nullable EventSink keep(Early event) {
    if (sink == null && early.size() < MAX_EARLY) {
      early.add(event);
    }
    return sink;
  }
}
