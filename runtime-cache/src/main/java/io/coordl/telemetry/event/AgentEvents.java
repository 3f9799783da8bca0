package io.coordl.telemetry.event;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;

/**
 * All events of the agent. None registers itself with JFR: the first registration loads the
 * descriptions of all JVM events, which takes a quarter of a second of CPU, and most jobs need only
 * the agent's own recording.
 */
public final class AgentEvents {
  public static final List<Class<? extends Event>> ALL =
      List.of(
          BatchEvent.class,
          CheckpointEvent.class,
          ConfigurationEvent.class,
          DataStallEvent.class,
          DecodeEvent.class,
          EnvironmentEvent.class,
          EpochEvent.class,
          FaultEvent.class,
          FetchEvent.class,
          GpuSampleEvent.class,
          GpuStatisticsEvent.class,
          HostEvent.class,
          JobStatisticsEvent.class,
          LatencyStatisticsEvent.class,
          LayerEvent.class,
          LibraryEvent.class,
          OpenWaitEvent.class,
          PeerFetchEvent.class,
          PeerStatisticsEvent.class,
          PersistEvent.class,
          PhaseEvent.class,
          RewrittenEvent.class,
          StagingStatisticsEvent.class,
          StepEvent.class,
          StoreStatisticsEvent.class,
          TransformEvent.class,
          TuningEvent.class,
          VerdictEvent.class);

  private AgentEvents() {}

  /**
   * Returns the JFR name of an event, equal to its {@code @Name}. Derived from the class name:
   * reading annotations generates a class for each annotation type, which costs a starting command
   * line 30 ms of CPU.
   */
  public static String name(Class<? extends Event> event) {
    String name = event.getName();
    return "io.coordl." + name.substring(name.lastIndexOf('.') + 1).replace("Event", "");
  }

  /** Returns the fields of an event, inherited ones included. */
  public static List<Field> fields(Class<?> event) {
    return Arrays.stream(event.getFields())
        .filter(field -> !Modifier.isStatic(field.getModifiers()))
        .toList();
  }

  /** Registers all events with JFR, so that its recordings include them. Idempotent; any thread. */
  public static void register() {
    ALL.forEach(FlightRecorder::register);
  }
}
