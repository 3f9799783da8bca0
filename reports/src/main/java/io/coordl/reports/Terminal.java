package io.coordl.reports;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
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
