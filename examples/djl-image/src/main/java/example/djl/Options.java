package example.djl;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Arguments of the form {@code --name value}; each error is reported in one sentence. */
final class Options {
  private final Map<String, String> values = new LinkedHashMap<>();

  /**
   * Reads {@code args}.
   *
   * @throws IllegalArgumentException if a name is not one of {@code names} or has no value
   */
  Options(Set<String> names, String... args) {
    for (int i = 0; i < args.length; i += 2) {
      String name = args[i].startsWith("--") ? args[i].substring(2) : "";
      if (!names.contains(name)) {
        throw new IllegalArgumentException(
            "Argument "
                + args[i]
                + " is unknown; expected --name value with one of "
                + names
                + ".");
      }
      if (i + 1 == args.length) {
        throw new IllegalArgumentException("Argument " + args[i] + " has no value.");
      }
      values.put(name, args[i + 1]);
    }
  }

  String text(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  Optional<Path> path(String name) {
    return Optional.ofNullable(values.get(name)).map(Path::of);
  }

  int number(String name, int otherwise) {
    String value = values.get(name);
    try {
      return value == null ? otherwise : Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "--" + name + " is " + value + ", expected a whole number.", e);
    }
  }

  float fraction(String name, float otherwise) {
    String value = values.get(name);
    try {
      return value == null ? otherwise : Float.parseFloat(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("--" + name + " is " + value + ", expected a number.", e);
    }
  }
}
