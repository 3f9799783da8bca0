package io.coordl.library.catalog;

import io.coordl.library.Library;
import io.coordl.library.LibraryArgument;
import io.coordl.library.declared.Declared;
import io.coordl.library.djl.Djl;
import io.coordl.library.dl4j.Dl4j;
import io.coordl.transformers.hook.HookRule;
import io.coordl.transformers.hook.HookWeaver;
import io.coordl.transformers.hook.Policy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The training libraries that the agent knows. Safe for concurrent use. */
public final class Libraries {
  private final List<Library> all;

  /** All known libraries. */
  public static Libraries known() {
    return new Libraries(List.of(new Djl(), new Dl4j(), new Declared()));
  }

  Libraries(List<Library> all) {
    this.all = List.copyOf(all);
  }

  public List<Library> all() {
    return all;
  }

  /** The library with that name, which must be known. */
  public Library named(String name) {
    for (Library library : all) {
      if (library.name().equals(name)) {
        return library;
      }
    }
    throw new IllegalArgumentException(name);
  }

  /** The argument with this key; null if no library has one. */
  public @Nullable LibraryArgument argument(String key) {
    for (Library library : all) { // No stream: every program pays for this at start-up.
      for (LibraryArgument argument : library.arguments()) {
        if (argument.key().equals(key)) {
          return argument;
        }
      }
    }
    return null;
  }

  /**
   * Passes a value to the library that has the argument.
   *
   * @throws IllegalArgumentException if the value is invalid
   */
  public void accept(LibraryArgument argument, String value) {
    for (Library library : all) {
      if (library.arguments().contains(argument)) {
        library.accept(argument.key(), value);
      }
    }
  }

  /** The arguments of all libraries. */
  public List<LibraryArgument> arguments() {
    return all.stream().flatMap(library -> library.arguments().stream()).toList();
  }

  /** All rules: for each library its spans, then its interceptions. */
  public List<HookRule> hooks() {
    return hooks(policies -> true);
  }

  /** The spans, and the interceptions that the policies in force need. */
  public List<HookRule> hooks(Predicate<List<Policy>> inForce) {
    List<HookRule> hooks = new ArrayList<>();
    for (Library library : all) { // No stream: every program pays for this at start-up.
      for (HookRule rule : library.hooks()) {
        HookRule.Interceptor interceptor = rule.interceptor();
        if (interceptor == null || inForce.test(interceptor.policies())) {
          hooks.add(rule);
        }
      }
    }
    return hooks;
  }

  /** A weaver that applies these rules to classes of any library. */
  public HookWeaver weaver(List<HookRule> rules) {
    return new HookWeaver(rules, this::isNotDataSource);
  }

  /** Whether a class, by internal name, looks like a source of batches but is not. */
  public boolean isNotDataSource(String internalName) {
    for (Library library : all) {
      if (library.isNotDataSource(internalName)) {
        return true;
      }
    }
    return false;
  }

  /** Like {@link Library#anchors}, for all libraries. */
  public Map<String, String> anchors() {
    return merged(Library::anchors);
  }

  /** Like {@link Library#layers}, for all libraries. */
  public Map<String, String> layers() {
    return merged(Library::layers);
  }

  /** Like {@link Library#datasets}, for all libraries. */
  public Map<String, String> datasets() {
    return merged(Library::datasets);
  }

  /** Like {@link Library#verdicts}, for all libraries. */
  public Map<String, String> verdicts() {
    return merged(Library::verdicts);
  }

  /** Like {@link Library#counters}, for all libraries. */
  public Map<String, String> counters() {
    return merged(Library::counters);
  }

  private Map<String, String> merged(Function<Library, Map<String, String>> part) {
    Map<String, String> merged = new HashMap<>();
    all.forEach(library -> merged.putAll(part.apply(library)));
    return merged;
  }
}
