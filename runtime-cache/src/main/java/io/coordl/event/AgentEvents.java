package io.coordl.event;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;

/**
 * Every event of the agent. None registers itself with JFR: the first that did would load the
 * descriptions of all events of the JVM, a quarter of a second of CPU, though most jobs record with
 * the agent alone.
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
          PeerFetchEvent.class,
          PeerStatisticsEvent.class,
          PersistEvent.class,
          PhaseEvent.class,
          RewrittenEvent.class,
          StagingStatisticsEvent.class,
          StepEvent.class,
          StoreStatisticsEvent.class,
          TransformEvent.class,
          TuningEvent.class);

  private AgentEvents() {}

  /**
   * What JFR calls an event, as its {@code @Name} says. Reading annotations makes a class for each
   * kind of them: 30 ms of CPU of a command line that just starts.
   */
  public static String name(Class<? extends Event> event) {
    return event.getName().replace(".event.", ".").replace("Event", "");
  }

  /** What an event says, by its class and those that this extends. */
  public static List<Field> fields(Class<?> event) {
    return Arrays.stream(event.getFields())
        .filter(field -> !Modifier.isStatic(field.getModifiers()))
        .toList();
  }

  /** From now on they are part of the recordings of JFR; any thread, any number of times. */
  public static void register() {
    ALL.forEach(FlightRecorder::register);
  }
}
