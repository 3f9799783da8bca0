package io.coordl.telemetry.attribution;

import io.coordl.telemetry.event.EventSink;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * Forwards events to the recording. The recording starts in the background: earlier events are
 * buffered (at most {@value #MAX_EARLY}) and written once it runs. Safe for concurrent use.
 */
public final class EventLog implements EventSink {
  private static final int MAX_EARLY = 10_000;
  private static final EventSink DISCARD = (event, start, end) -> {};

  private volatile @Nullable EventSink sink;
  private List<Early> early = new ArrayList<>();

  private record Early(Supplier<Event> event, long start, long end) {}

  /** Writes the buffered events to the running recording, and later ones immediately. */
  public void open(EventSink to) {
    List<Early> buffered;
    synchronized (this) {
      sink = to;
      buffered = early;
      early = List.of();
    }
    buffered.forEach(one -> write(to, one));
  }

  /** Drops the buffered events and all later ones, because there is no recording. */
  public void close() {
    open(DISCARD);
  }

  /** Whether a recording is running. */
  public boolean isOpen() {
    EventSink to = sink;
    return to != null && to != DISCARD;
  }

  /** Writes an event now, or once the recording runs. */
  @Override
  public void write(Event event, long start, long end) {
    write(() -> event, start, end);
  }

  /**
   * Like {@link #write(Event, long, long)}, but creates the event only when it is written: no other
   * class may be loaded while a class is being loaded.
   */
  public void write(Supplier<Event> event, long start, long end) {
    Early one = new Early(event, start, end);
    EventSink to = sink;
    if (to == null) {
      to = buffer(one);
    }
    if (to != null) {
      write(to, one);
    }
  }

  /** Creates and writes an event; does neither without a recording. */
  private static void write(EventSink to, Early one) {
    if (to != DISCARD) {
      to.write(one.event.get(), one.start, one.end);
    }
  }

  /** Buffers the event, or returns the sink if there is one by now. */
  private synchronized @Nullable EventSink buffer(Early event) {
    if (sink == null && early.size() < MAX_EARLY) {
      early.add(event);
    }
    return sink;
  }
}
