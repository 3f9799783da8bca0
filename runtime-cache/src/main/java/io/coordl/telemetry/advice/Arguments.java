package io.coordl.telemetry.advice;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Builds the agent arguments for the next run from those of a recorded job. */
public final class Arguments {
  public static final String AGENT = "-javaagent:coordl-agent.jar=";

  private static final Set<String> USER_ORIGINS = Set.of("argument", "file", "environment");

  private Arguments() {}

  /**
   * Whether an argument of this origin was given by the user, not by a default or another argument.
   */
  public static boolean isGiven(@Nullable String origin) {
    return origin != null && USER_ORIGINS.contains(origin);
  }

  /**
   * Returns all arguments for the next run, so that advice does not drop earlier settings.
   *
   * @param given arguments that the user gave, by key
   * @param changes {@code key=value}, each of which replaces the given value; if there are none,
   *     the result is empty
   */
  public static List<String> merged(Map<String, String> given, List<String> changes) {
    if (changes.isEmpty()) {
      return List.of();
    }
    Map<String, String> all = new LinkedHashMap<>(new TreeMap<>(given));
    if (all.keySet().removeIf(key -> key.startsWith("profile"))) {
      all.remove("record"); // It named the recording of the profile.
    }
    for (String change : changes) {
      int equals = change.indexOf('=');
      all.put(change.substring(0, equals), change.substring(equals + 1));
    }
    return all.entrySet().stream().flatMap(Arguments::toArguments).toList();
  }

  /** Values of a repeated key are recorded as a list; a password is not recorded. */
  private static Stream<String> toArguments(Map.Entry<String, String> argument) {
    return Stream.of(argument.getValue().replace("(not shown)", "PASSWORD").split(", ", -1))
        .map(value -> argument.getKey() + "=" + value);
  }
}
