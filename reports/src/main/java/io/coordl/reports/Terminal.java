package io.coordl.reports;

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
 * What the outside of the process says about how to print.
 *
 * @param colours true if the output may be coloured
 * @param columns width of help texts
 */
record Terminal(boolean colours, int columns) {
  private static final int USUAL_COLUMNS = 80;

  /** Below this, columns of options leave no room for their descriptions. */
  private static final int LEAST_COLUMNS = 55;

  private static final int MOST_COLUMNS = 120;

  /** For output that goes to no terminal. */
  static final Terminal NONE = new Terminal(false, USUAL_COLUMNS);

  /** What is true of this process. */
  static Terminal ofThisProcess() {
    return of(System.getenv(), isTerminal(1) && isTerminal(2));
  }

  /**
   * Colours are for people at a terminal that can show them and who do not mind
   * (https://no-color.org). They are off as soon as one of the two streams goes elsewhere, as help
   * and errors share them.
   */
  static Terminal of(Map<String, String> environment, boolean terminal) {
    boolean unwanted = !environment.getOrDefault("NO_COLOR", "").isEmpty();
    boolean dumb = environment.getOrDefault("TERM", "dumb").equals("dumb");
    return new Terminal(terminal && !unwanted && !dumb, columns(environment.get("COLUMNS")));
  }

  private static int columns(@Nullable String columns) {
    try {
      int wanted = columns == null ? USUAL_COLUMNS : Integer.parseInt(columns.strip());
      return Math.min(MOST_COLUMNS, Math.max(LEAST_COLUMNS, wanted));
    } catch (NumberFormatException e) {
      return USUAL_COLUMNS;
    }
  }

  /** Rows and columns of the terminal that this process belongs to; 0 if not known. */
  record Size(int rows, int columns) {
    private static final Size UNKNOWN = new Size(0, 0);

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

    /** What of the lines fits, with the cursor below; how many more there are is said. */
    List<String> clip(List<String> lines) {
      List<String> fitting = new ArrayList<>(lines);
      if (rows > 2 && lines.size() >= rows) {
        fitting.subList(rows - 2, lines.size()).clear();
        fitting.add("... " + (lines.size() - rows + 2) + " more lines: name a job or a group");
      }
      if (columns > 0) {
        fitting.replaceAll(line -> line.substring(0, Math.min(columns, line.length())));
      }
      return fitting;
    }
  }

  /** The JDK can only tell about stdin and stdout together, of which one may be redirected. */
  static boolean isTerminal(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return false; // No /proc: as if there were no terminal.
    }
  }
}
