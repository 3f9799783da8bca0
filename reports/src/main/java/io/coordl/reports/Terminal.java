package io.coordl.reports;

import io.coordl.telemetry.advice.Text;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Output settings, derived from the process's environment.
 *
 * @param colours whether to colour the output
 * @param width width at which lines are folded; 0: unknown, so no folding
 */
record Terminal(boolean colours, int width) {
  private static final int DEFAULT_COLUMNS = 80;

  /** In narrower help texts, option names leave no room for descriptions. */
  private static final int MIN_COLUMNS = 55;

  private static final int MAX_COLUMNS = 120;

  private static final String PLAIN = "\u001b[0m";
  private static final String BOLD = "\u001b[1m";
  private static final String GREEN = "\u001b[32m";
  private static final String YELLOW = "\u001b[33m";

  /**
   * Patterns for the beginnings of lines; created on first use, because most output does not go to
   * a terminal.
   */
  private static final class Beginning {
    static final Pattern INDENT = Pattern.compile("([A-Zp][\\w /]{2,10} {2,}| +(- )?)");
    static final Pattern ADVICE = Pattern.compile(" *Try( next  |: )");
    static final Pattern PROBLEM =
        Pattern.compile("(Faults|Missing|Remark)  |not shown:|Limit +unknown|  changed: ");

    /** A title, column names, or the label of a line. */
    static final Pattern HEADING =
        Pattern.compile(
            "CoorDL .*|Where .*|(Epoch|Phase) .*|\\d+ jobs? of .*|.*samples/s +stall"
                + " .*|Assumptions|\\d+  .*|[A-Zp][\\w/]*( [\\w/]+)*(?=  )|Program:|A"
                + " sample:|Check:");
  }

  /** Settings for output that does not go to a terminal. */
  static final Terminal NONE = new Terminal(false, 0);

  static Terminal ofThisProcess() {
    boolean terminal = isTerminal(1) && isTerminal(2);
    boolean measuresSize = terminal && System.getenv("COLUMNS") == null;
    return of(System.getenv(), terminal, measuresSize ? Size.now() : Size.UNKNOWN);
  }

  /**
   * Returns the settings for an environment. Uses colours only on a terminal that supports them,
   * and only if the user allows them (https://no-color.org).
   *
   * @param terminal whether both stdout and stderr are terminals, because help and errors share the
   *     settings
   */
  static Terminal of(Map<String, String> environment, boolean terminal, Size size) {
    boolean disabled = !environment.getOrDefault("NO_COLOR", "").isEmpty();
    boolean dumb = environment.getOrDefault("TERM", "dumb").equals("dumb");
    int width = columns(environment.get("COLUMNS"));
    if (width == 0 && terminal) {
      width = size.columns();
    }
    return new Terminal(
        terminal && !disabled && !dumb, width == 0 ? 0 : Math.max(MIN_COLUMNS, width));
  }

  /** Returns the width of help texts. */
  int columns() {
    return width == 0 ? DEFAULT_COLUMNS : Math.min(MAX_COLUMNS, width);
  }

  private static int columns(@Nullable String columns) {
    try {
      return columns == null ? 0 : Math.max(0, Integer.parseInt(columns.strip()));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** Folds lines to the width, and highlights headings, advice and problems. */
  List<String> format(List<String> lines) {
    return lines.stream().flatMap(line -> paint(fold(line)).stream()).toList();
  }

  /** Folds a line at spaces; continuation lines are indented to the text after the label. */
  List<String> fold(String line) {
    if (width == 0 || line.length() <= width) {
      return List.of(line);
    }
    Matcher indent = Beginning.INDENT.matcher(line);
    String under = " ".repeat(indent.lookingAt() ? Math.min(indent.end(), width / 2) : 2);
    return Text.fold(line, under, width);
  }

  /** Colours a folded line by its kind, which depends on its first part. */
  List<String> paint(List<String> line) {
    if (!colours || line.isEmpty()) {
      return line;
    }
    String first = line.get(0);
    String colour =
        Beginning.ADVICE.matcher(first).lookingAt()
            ? GREEN
            : Beginning.PROBLEM.matcher(first).lookingAt() ? YELLOW : "";
    List<String> painted = new ArrayList<>();
    for (String part : line) {
      Matcher heading = Beginning.HEADING.matcher(part);
      painted.add(
          colour.isEmpty()
              ? part.equals(first) && heading.lookingAt()
                  ? BOLD + heading.group() + PLAIN + part.substring(heading.end())
                  : part
              : colour + part + PLAIN);
    }
    return painted;
  }

  /** Rows and columns of a terminal; 0 if unknown. */
  record Size(int rows, int columns) {
    static final Size UNKNOWN = new Size(0, 0);

    static Size now() {
      try {
        Process stty = new ProcessBuilder("sh", "-c", "stty size </dev/tty").start();
        return parse(new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
      } catch (IOException e) {
        return UNKNOWN;
      }
    }

    static Size parse(String size) {
      Matcher numbers = Pattern.compile("(\\d{1,4}) (\\d{1,4})").matcher(size.strip());
      return numbers.matches()
          ? new Size(Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2)))
          : UNKNOWN;
    }

    /** Returns the lines that fit above the cursor, and a note of how many more there are. */
    List<String> clip(List<String> lines) {
      List<String> fitting = new ArrayList<>(lines);
      if (rows > 2 && lines.size() >= rows) {
        fitting.subList(rows - 2, lines.size()).clear();
        fitting.add(
            "... "
                + (lines.size() - rows + 2)
                + " more lines: to show less, name a job or a group");
      }
      if (columns > 0) {
        fitting.replaceAll(line -> line.substring(0, Math.min(columns, line.length())));
      }
      return fitting;
    }
  }

  /**
   * Returns whether a stream is a terminal; the JDK only knows this for stdin and stdout together.
   */
  static boolean isTerminal(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return false; // Without /proc, assume no terminal.
    }
  }
}
