package io.coordl.reports;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.DoubleConsumer;

/**
 * A progress bar on stderr for reading large recordings; closing erases it. Draws nothing if stderr
 * is not a terminal.
 */
final class ProgressBar implements DoubleConsumer, AutoCloseable {
  /** Size in bytes from which a recording is large. */
  static final long LARGE_BYTES = 50L << 20;

  private static final int WIDTH = 40;

  private final PrintWriter err;
  private final boolean visible;
  private int drawnPercent = -1;

  ProgressBar(PrintWriter err, boolean visible) {
    this.err = err;
    this.visible = visible;
  }

  static ProgressBar of(Path file, boolean enabled, PrintWriter err) {
    return new ProgressBar(err, enabled && isLarge(file) && Terminal.isTerminal(2));
  }

  private static boolean isLarge(Path file) {
    try {
      return Files.size(file) >= LARGE_BYTES;
    } catch (IOException e) {
      return false; // The reader will report the problem.
    }
  }

  @Override
  public void accept(double fraction) {
    int percent = (int) (100 * fraction);
    if (!visible || percent == drawnPercent) {
      return;
    }
    drawnPercent = percent;
    int filled = percent * WIDTH / 100;
    err.print("\r[" + "#".repeat(filled) + " ".repeat(WIDTH - filled) + "] " + percent + " %");
    err.flush();
  }

  @Override
  public void close() {
    if (drawnPercent >= 0) {
      err.print("\r" + " ".repeat(WIDTH + 8) + "\r");
      err.flush();
    }
  }
}
