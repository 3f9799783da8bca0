package io.coordl.library;

import io.coordl.event.LibraryEvent;
import io.coordl.transformers.hook.HookRule;
import java.util.List;
import java.util.Map;

/**
 * A training library: all that the agent knows of it before the program loads it. One folder holds
 * a library's implementation and its interceptors; nothing outside that folder names the library.
 * Implementations touch no type of the library, since they are loaded by the agent's own loader.
 */
public interface Library {
  /** Its name, for the user. */
  String name();

  /** What the names of its classes begin with: packages with a dot at the end. */
  List<String> packages();

  /** Arguments of the agent that are this library's own. */
  default List<LibraryArgument> arguments() {
    return List.of();
  }

  /**
   * Takes a value of one of {@link #arguments}; called before all else.
   *
   * @throws IllegalArgumentException if it is not as expected
   */
  default void accept(String key, String value) {
    throw new IllegalArgumentException(key);
  }

  /** Sentences about the values taken, for the user. */
  default List<String> remarks() {
    return List.of();
  }

  /** A rule of its own, as {@link HookRule#describe} tells it, was applied. On any thread. */
  default void applied(String rule) {}

  /** Values that had no effect, and why; asked when the job ends. */
  default List<String> unused() {
    return List.of();
  }

  /** Its methods that are marked with spans or intercepted. */
  List<HookRule> hooks();

  /**
   * A class that the library's jar must have, by the name of an interceptor: where one interceptor
   * serves classes of any name, the class stands for the library's loader.
   */
  default Map<String, String> anchors() {
    return Map.of();
  }

  /**
   * Classes of the library that tell a number, such as the samples of a batch, and the name of our
   * class (a {@code ToLongFunction}) that asks them.
   */
  default Map<String, String> counters() {
    return Map.of();
  }

  /**
   * Classes of the library whose objects make steps, and the name of our class that knows the
   * layers of their models: a {@code Function} from such an object to layer events.
   */
  default Map<String, String> layers() {
    return Map.of();
  }

  /** Whether a class, by its internal name, looks like a source of batches and is none. */
  default boolean isNoData(String internalName) {
    return false;
  }

  /**
   * Where {@code prepared=share} finds what it keeps, for the user, to follow "no sample or batch
   * came from"; empty if it keeps nothing.
   */
  String kept();

  /** Whether the library prepares batches on a thread of its own. */
  boolean preparesAhead();

  /** Whether {@code prefetch=N} prepares batches of the library's own classes. */
  boolean isPrefetched();

  /** How a program makes it prepare further ahead, to follow a comma; empty if it cannot. */
  default String howToPrepareAhead() {
    return "";
  }

  /** When it calls {@code System.gc()}, to follow a semicolon; empty if it does not. */
  default String callsGc() {
    return "";
  }

  /** The same, for a recording. */
  default LibraryEvent event() {
    LibraryEvent event = new LibraryEvent();
    event.name = name();
    event.packages = String.join(",", packages());
    event.preparesAhead = preparesAhead();
    event.prefetched = isPrefetched();
    event.prepared = !kept().isEmpty();
    event.howToPrepareAhead = howToPrepareAhead();
    event.callsGc = callsGc();
    return event;
  }
}
