package io.coordl.library;

import io.coordl.telemetry.event.LibraryEvent;
import io.coordl.transformers.hook.HookRule;
import java.util.List;
import java.util.Map;

/**
 * Describes a training library to the agent before the program loads it. One folder holds a
 * library's implementation and its interceptors; outside that folder, only the catalog names the
 * library. Implementations use no type of the library, because the agent's own loader loads them.
 */
public interface Library {
  /** Its name, for the user. */
  String name();

  /** Prefixes of its class names: packages with a trailing dot. */
  List<String> packages();

  /** Agent arguments specific to this library. */
  default List<LibraryArgument> arguments() {
    return List.of();
  }

  /**
   * Sets the value of one of {@link #arguments}; called before {@link #remarks} and {@link #hooks}.
   *
   * @throws IllegalArgumentException if the value is invalid
   */
  default void accept(String key, String value) {
    throw new IllegalArgumentException(key);
  }

  /** Messages about the values set, for the user. */
  default List<String> remarks() {
    return List.of();
  }

  /**
   * Called on any thread when a rule of this library has been applied.
   *
   * @param rule the rule's name, as {@link HookRule#describe} returns it
   */
  default void applied(String rule) {}

  /** Values that had no effect, and why; called when the job ends. */
  default List<String> unused() {
    return List.of();
  }

  /** Its methods to mark with spans or to intercept. */
  List<HookRule> hooks();

  /**
   * For each interceptor that serves classes of any name, the name of a library class. The
   * interceptor is created once per loader of that class, not for each intercepted class.
   */
  default Map<String, String> anchors() {
    return Map.of();
  }

  /**
   * Classes of the library that have a count, such as a batch's number of samples, each with the
   * name of our class (a {@code ToLongFunction}) that reads it.
   */
  default Map<String, String> counters() {
    return Map.of();
  }

  /**
   * Classes of the library whose objects perform training steps, each with the name of our class
   * that knows the layers of their models: a {@code Function} from such an object to layer events.
   */
  default Map<String, String> layers() {
    return Map.of();
  }

  /**
   * Classes of the library that iterate over batches, each with the name of our class that decides
   * whether their samples could be cached: a {@code Function} to a {@code SampleVerdict}. After a
   * space, a string for its constructor may follow.
   */
  default Map<String, String> verdicts() {
    return Map.of();
  }

  /**
   * Classes of the library that yield the batches of another object, each with the name of our
   * class that returns that object: a {@code UnaryOperator}.
   */
  default Map<String, String> datasets() {
    return Map.of();
  }

  /** Whether a class, by internal name, looks like a source of batches but is not. */
  default boolean isNotDataSource(String internalName) {
    return false;
  }

  /**
   * Sources whose data {@code prepared=share} caches. Ends the message "no sample or batch came
   * from ..."; empty if nothing is cached.
   */
  String kept();

  /** Whether the library prepares batches on its own thread. */
  boolean preparesAhead();

  /** Whether {@code prefetch=N} prepares batches of the library's own classes. */
  boolean isPrefetched();

  /** Whether {@code prep=coordinate} shares its batches among jobs. */
  default boolean isCoordinated() {
    return true;
  }

  /**
   * How a program can make the library prepare further ahead. Ends a sentence of a message; empty
   * if that is impossible.
   */
  default String howToPrepareAhead() {
    return "";
  }

  /**
   * When the library calls {@code System.gc()}. Follows a semicolon in a message; empty if it never
   * does.
   */
  default String callsGc() {
    return "";
  }

  /** Describes the library in a recording. */
  default LibraryEvent event() {
    LibraryEvent event = new LibraryEvent();
    event.name = name();
    event.packages = String.join(",", packages());
    event.preparesAhead = preparesAhead();
    event.prefetched = isPrefetched();
    event.prepared = !kept().isEmpty();
    event.alone = !isCoordinated();
    event.howToPrepareAhead = howToPrepareAhead();
    event.callsGc = callsGc();
    return event;
  }
}
