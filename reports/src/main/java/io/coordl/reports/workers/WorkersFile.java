package io.coordl.reports.workers;

import io.coordl.reports.cluster.InputException;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A user's description of unequal workers. Each line describes one thing: a word for its type, then
 * its name or value if it has one, and {@code key=value} pairs. Text after # is a comment.
 */
public final class WorkersFile {
  /** Keys by the first word of a line. */
  private static final Map<String, List<String>> KEYS =
      Map.of(
          "batch", List.of(),
          "worker", List.of("ms", "fixed", "slower", "supply", "most", "memory", "recording"),
          "memory", List.of("fixed", "sample"),
          "kind", List.of("slower", "memory"),
          "layer", List.of("ms", "parameters", "activations", "inputs"),
          "virtual", List.of(),
          "waves", List.of("in-flight", "distance", "copies", "spread"),
          "server", List.of("link", "flops"),
          "links", List.of("workers", "link", "batch", "compute", "value"));

  private static final List<String> NAMED = List.of("worker", "kind", "layer", "virtual", "server");
  private static final Pattern AMOUNT = Pattern.compile("(\\d{1,18}(?:\\.\\d{1,18})?)([A-Za-z/]*)");
  private static final int MAX_LINES = 100_000;
  private static final double MAX_VALUE = 1e15;
  private static final int MAX_WHOLE = 1_000_000_000;

  private static final Map<String, Double> SIZES =
      Map.of(
          "B", 1.0, "kB", 1e3, "MB", 1e6, "GB", 1e9, "TB", 1e12, "KiB", 0x1p10, "MiB", 0x1p20,
          "GiB", 0x1p30, "TiB", 0x1p40);
  private static final Map<String, Double> RATES =
      Map.of(
          "Mbit", 1e6 / 8, "Gbit", 1e9 / 8, "Mbit/s", 1e6 / 8, "Gbit/s", 1e9 / 8, "MB/s", 1e6,
          "GB/s", 1e9, "MiB/s", 0x1p20, "GiB/s", 0x1p30);
  private static final Map<String, Double> FLOPS = Map.of("M", 1e6, "G", 1e9, "T", 1e12);

  private final Path file;
  private final List<Line> lines = new ArrayList<>();

  private WorkersFile(Path file) {
    this.file = file;
  }

  /** Reads {@code file}; the values of its lines are checked on access. */
  public static WorkersFile read(Path file) throws InputException {
    WorkersFile result = new WorkersFile(file);
    int number = 0;
    try {
      for (String text : Files.readAllLines(file)) {
        number++;
        if (number > MAX_LINES) {
          throw result.refused(number, "the file has more than " + MAX_LINES + " lines");
        }
        String words = text.replaceFirst("#.*", "").strip();
        if (!words.isEmpty()) {
          result.add(number, words.split("\\s+"));
        }
      }
    } catch (NoSuchFileException e) {
      throw new InputException("there is no file " + file);
    } catch (CharacterCodingException e) {
      throw new InputException(file + " is not UTF-8 text");
    } catch (IOException e) {
      throw new InputException(file + " cannot be read: " + e.getMessage());
    }
    if (result.lines.isEmpty()) {
      throw new InputException(file + " describes nothing: it is empty or contains only comments");
    }
    return result;
  }

  private void add(int number, String[] words) throws InputException {
    List<String> keys = KEYS.get(words[0]);
    if (keys == null) {
      throw refused(
          number,
          "'"
              + shortened(words[0])
              + "' is not one of "
              + String.join(", ", new TreeSet<>(KEYS.keySet())));
    }
    int start = NAMED.contains(words[0]) ? 2 : 1;
    int positional = words[0].equals("virtual") || words[0].equals("batch") ? 1 : 0;
    if (words.length < start + positional || (start == 2 && words[1].indexOf('=') >= 0)) {
      throw refused(
          number,
          "'" + words[0] + "' needs " + (positional == 1 ? "a value" : "a name") + " after it");
    }
    Line line = new Line(number, words[0], start == 2 ? words[1] : "");
    if (positional == 1) {
      line.values.put("", words[start]);
    }
    for (String word : Arrays.asList(words).subList(start + positional, words.length)) {
      String[] pair = word.split("=", 2);
      if (pair.length != 2 || !keys.contains(pair[0])) {
        throw refused(
            number,
            keys.isEmpty()
                ? "'" + shortened(word) + "' is one word too many"
                : "'" + shortened(word) + "' is not one of " + String.join("=, ", keys) + "=");
      }
      if (line.values.put(pair[0], pair[1]) != null) {
        throw refused(number, pair[0] + " appears twice");
      }
    }
    for (Line other : lines) {
      if (other.word.equals(line.word) && other.name.equals(line.name)) {
        throw refused(
            number, (line.word + " " + line.name).strip() + " is already on line " + other.number);
      }
    }
    lines.add(line);
  }

  List<Line> all(String word) {
    return lines.stream().filter(line -> line.word.equals(word)).toList();
  }

  /** Returns the line that begins with {@code word}; an empty line if there is none. */
  Line one(String word) {
    return all(word).stream().findFirst().orElse(new Line(0, word, ""));
  }

  Path beside(String name) {
    return file.resolveSibling(name);
  }

  @Override
  public String toString() {
    return file.toString();
  }

  private InputException refused(int number, String problem) {
    return new InputException(file + ", line " + number + ": " + problem);
  }

  private static String shortened(String text) {
    return text.length() <= 40 ? text : text.substring(0, 40) + "...";
  }

  /** A line; its number is 0 if the file has no such line. */
  final class Line {
    final int number;
    final String word;
    final String name;
    private final Map<String, String> values = new LinkedHashMap<>();

    Line(int number, String word, String name) {
      this.number = number;
      this.word = word;
      this.name = name;
    }

    @Nullable String text(String key) {
      return values.get(key);
    }

    InputException refused(String problem) {
      return WorkersFile.this.refused(number, problem);
    }

    private InputException wrong(String key, String expected) {
      return refused(
          (key.isEmpty() ? word : key)
              + " is '"
              + shortened(String.valueOf(values.get(key)))
              + "', not "
              + expected);
    }

    /** Returns a number of at least {@code min}; null if the key is missing. */
    @Nullable Double number(String key, double min) throws InputException {
      return amount(key, min, Map.of("", 1.0), "a number " + from(min));
    }

    private static String from(double min) {
      return min == 0 ? "of at least 0" : "above 0";
    }

    @Nullable Double above0(String key) throws InputException {
      return number(key, Double.MIN_VALUE);
    }

    @Nullable Integer whole(String key, int min) throws InputException {
      Double value = amount(key, min, Map.of("", 1.0), "a whole number of at least " + min);
      if (value != null && (value != Math.rint(value) || value > MAX_WHOLE)) {
        throw wrong(key, "a whole number of at least " + min);
      }
      return value == null ? null : (Integer) value.intValue();
    }

    @Nullable Double bytes(String key) throws InputException {
      return amount(key, 0, SIZES, "a size with its unit, such as 6GiB or 150MB");
    }

    @Nullable Double bytesPerSecond(String key) throws InputException {
      return amount(
          key, Double.MIN_VALUE, RATES, "a rate above 0 with its unit, such as 10Gbit or 1.2GB/s");
    }

    @Nullable Double flopsPerSecond(String key) throws InputException {
      return amount(key, Double.MIN_VALUE, FLOPS, "operations a second above 0, such as 500G");
    }

    private @Nullable Double amount(
        String key, double min, Map<String, Double> units, String expected) throws InputException {
      String text = values.get(key);
      if (text == null) {
        return null;
      }
      Matcher amount = AMOUNT.matcher(text);
      Double unit = amount.matches() ? units.get(amount.group(2)) : null;
      double value = unit == null ? Double.NaN : Double.parseDouble(amount.group(1)) * unit;
      if (!(value >= min && value <= MAX_VALUE)) {
        throw wrong(key, expected);
      }
      return value;
    }
  }
}
