package io.coordl.agent.packaging;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Deletes library classes that are unreachable from the agent's own classes. A class reaches every
 * class whose name is in its file, as a type or in a string. So classes that are looked up by full
 * name stay. JGroups loads every class on its lists; deleted classes are removed from these lists.
 */
public final class Unreached {
  private static final String SUFFIX = ".classdata";
  private static final Pattern NAME = Pattern.compile("(?:io|net|org|redis)[/.][\\w/.$-]+");

  private Unreached() {}

  /**
   * Arguments: a folder of classes named {@code *.classdata}, and the package of the root classes.
   */
  public static void main(String[] args) throws IOException {
    Path root = Path.of(args[0]);
    Map<String, Path> libraries = new HashMap<>();
    Deque<Path> next = new ArrayDeque<>();
    List<Path> lists = new ArrayList<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String name = root.relativize(file).toString().replace('\\', '/');
        if (name.startsWith(args[1])) {
          next.add(file);
        } else if (name.endsWith(SUFFIX)) {
          libraries.put(name.substring(0, name.length() - SUFFIX.length()), file);
        } else if (name.endsWith(".xml")) {
          lists.add(file);
        }
      }
    }
    Set<String> reached = new HashSet<>();
    while (!next.isEmpty()) {
      for (String name : names(Files.readString(next.pop(), StandardCharsets.ISO_8859_1))) {
        Path file = libraries.get(name);
        if (file != null && reached.add(name)) {
          next.add(file);
        }
      }
    }
    for (Map.Entry<String, Path> library : libraries.entrySet()) {
      if (!reached.contains(library.getKey())) {
        Files.delete(library.getValue());
      }
    }
    for (Path list : lists) {
      Files.write(
          list,
          Files.readAllLines(list).stream()
              .filter(line -> reached.containsAll(names(line)))
              .toList());
    }
  }

  private static List<String> names(String text) {
    return NAME.matcher(text).results().map(name -> name.group().replace('.', '/')).toList();
  }
}
