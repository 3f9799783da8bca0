package io.coordl.reports.plan;

import io.coordl.reports.cluster.InputException;
import io.coordl.reports.cluster.ModelTable;
import io.coordl.reports.recording.RecordingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A job to plan for.
 *
 * @param name unique name, valid in Kubernetes
 * @param table table that contains its model
 * @param gpu type of GPU that it needs; null for the cluster's only type
 * @param ownMemoryGib GiB that it needs besides its cache; null if unknown
 * @param container its container's name in Kubernetes
 * @param recorded whether its table comes from a recording and therefore covers only the cache's
 *     memory
 */
record PlanJob(
    String name,
    ModelTable table,
    String model,
    int gpus,
    @Nullable String gpu,
    @Nullable Double ownMemoryGib,
    String container,
    boolean recorded) {
  private static final List<String> KEYS =
      List.of("gpus", "gpu", "count", "name", "memory", "container");
  private static final int MAX_COUNT = 100_000;
  private static final int MAX_NAME_LENGTH = 63;

  /** Returns whether only the memory of its cache is known. */
  boolean isMemoryMissing() {
    return recorded && ownMemoryGib == null;
  }

  /** Returns the GiB besides the cache; 0 if unknown. */
  double ownMemory() {
    return ownMemoryGib == null ? 0 : ownMemoryGib;
  }

  /** Parses the arguments of one command, each {@code FILE[#MODEL][,key=value]...}. */
  static List<PlanJob> parse(List<String> arguments, Recordings recordings)
      throws InputException, RecordingException {
    Map<Path, ModelTable> tables = new HashMap<>();
    List<PlanJob> jobs = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (String argument : arguments) {
      String[] words = argument.split(",", -1);
      Map<String, String> options = options(argument, words);
      String[] source = words[0].split("#", 2);
      Path file = Path.of(source[0]);
      ModelTable table = tables.get(file);
      if (table == null) {
        table = source[0].endsWith(".jfr") ? recordings.table(file) : ModelTable.read(file);
        tables.put(file, table);
      }
      String model = model(argument, source, table);
      String name = kubernetesName(options.getOrDefault("name", model));
      int count = whole(argument, options, "count", 1);
      int gpus = whole(argument, options, "gpus", table.gpus(model));
      Double ownMemory = memory(argument, options);
      for (int i = 1; i <= count; i++) {
        String unique = count == 1 ? name : name + "-" + i;
        for (int k = 2; names.contains(unique); k++) {
          if (options.containsKey("name")) {
            throw refused(argument, "there is already a job '" + unique + "'");
          }
          unique = name + "-" + k;
        }
        names.add(unique);
        jobs.add(
            new PlanJob(
                unique,
                table,
                model,
                gpus,
                options.get("gpu"),
                ownMemory,
                options.getOrDefault("container", name),
                table.hasRecorded()));
        if (jobs.size() > MAX_COUNT) {
          throw refused(argument, "a plan has at most " + MAX_COUNT + " jobs");
        }
      }
    }
    return jobs;
  }

  private static Map<String, String> options(String argument, String[] words)
      throws InputException {
    Map<String, String> options = new LinkedHashMap<>();
    for (int i = 1; i < words.length; i++) {
      String[] pair = words[i].split("=", 2);
      if (pair.length != 2 || pair[1].isBlank() || !KEYS.contains(pair[0].strip())) {
        throw refused(
            argument, "'" + words[i] + "' is not one of " + String.join("=, ", KEYS) + "=");
      }
      if (options.put(pair[0].strip(), pair[1].strip()) != null) {
        throw refused(argument, pair[0].strip() + " is given twice");
      }
    }
    return options;
  }

  private static String model(String argument, String[] source, ModelTable table)
      throws InputException {
    if (source.length == 1 && table.names().size() == 1) {
      return table.names().iterator().next();
    }
    if (source.length == 1 || !table.names().contains(source[1])) {
      throw refused(
          argument,
          (source.length == 1
                  ? "no model is named"
                  : "'" + source[1] + "' is not a model of the file")
              + ": "
              + source[0]
              + "#MODEL with one of "
              + table.names()
              + " was expected");
    }
    return source[1];
  }

  private static int whole(String argument, Map<String, String> options, String key, int absent)
      throws InputException {
    String text = options.getOrDefault(key, Integer.toString(absent));
    try {
      int value = Integer.parseInt(text);
      if (value >= 1 && value <= MAX_COUNT) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Rejected below.
    }
    throw refused(argument, key + " is '" + text + "', not a whole number from 1 to " + MAX_COUNT);
  }

  private static @Nullable Double memory(String argument, Map<String, String> options)
      throws InputException {
    String text = options.get("memory");
    if (text == null) {
      return null;
    }
    return Quantity.MEMORY
        .parse(text)
        .orElseThrow(
            () ->
                refused(
                    argument,
                    "memory is '" + text + "': " + Quantity.MEMORY.expected + " was expected"));
  }

  /**
   * Converts a name to one valid in Kubernetes (letters, digits and hyphens) that leaves room for a
   * number.
   */
  private static String kubernetesName(String name) {
    String sanitized =
        name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-", "");
    String shortened =
        sanitized
            .substring(0, Math.min(sanitized.length(), MAX_NAME_LENGTH - 7))
            .replaceAll("-$", "");
    return shortened.isEmpty() ? "job" : shortened;
  }

  private static InputException refused(String argument, String problem) {
    return new InputException("the job '" + argument + "': " + problem);
  }
}
