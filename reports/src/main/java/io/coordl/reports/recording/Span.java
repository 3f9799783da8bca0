package io.coordl.reports.recording;

import io.coordl.telemetry.event.BatchEvent;
import io.coordl.telemetry.event.CheckpointEvent;
import io.coordl.telemetry.event.DataStallEvent;
import io.coordl.telemetry.event.DecodeEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.FetchEvent;
import io.coordl.telemetry.event.PersistEvent;
import io.coordl.telemetry.event.StepEvent;
import io.coordl.telemetry.event.TransformEvent;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import jdk.jfr.Event;

/**
 * An activity of a thread.
 *
 * @param name such as {@code data stall}
 * @param at its time and thread; valid until the next span is taken
 * @param event the event that the agent wrote
 */
public record Span(String name, JobEvent at, Object event) {
  private static final List<Class<? extends Event>> TYPES =
      List.of(
          EpochEvent.class,
          StepEvent.class,
          DataStallEvent.class,
          BatchEvent.class,
          FetchEvent.class,
          DecodeEvent.class,
          TransformEvent.class,
          CheckpointEvent.class,
          PersistEvent.class);

  /** Returns, by type of event, consumers that convert events to spans. */
  static Map<String, Consumer<JobEvent>> takers(Consumer<Span> taker) {
    Map<String, Consumer<JobEvent>> takers = new HashMap<>();
    for (Class<? extends Event> type : TYPES) {
      EventReader<? extends Event> reader = new EventReader<>(type);
      String name =
          type.getSimpleName()
              .replace("Event", "")
              .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
              .toLowerCase(Locale.ROOT);
      takers.put(reader.event, event -> taker.accept(new Span(name, event, reader.read(event))));
    }
    return takers;
  }
}
