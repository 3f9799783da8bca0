package io.coordl.reports.summary;

import io.coordl.advice.Part;
import io.coordl.advice.Text;
import io.coordl.event.Figures;

/**
 * Jobs side by side: how fast each is, and what it waits for; the columns that all tables share.
 */
public final class JobTable {
  private JobTable() {}

  public static String header() {
    StringBuilder header = new StringBuilder(Text.format("%10s %7s", "samples/s", "stall"));
    Part.STALLS.forEach(part -> header.append(Text.format(" %8s", part.cause())));
    return header + Text.format(" %7s %7s %6s", "saves", "memory", "epochs");
  }

  /**
   * A line.
   *
   * @param speed in samples a second, 0 if not known
   * @param figures whose shares are shown
   * @param epochs so far
   */
  public static String line(double speed, Figures figures, long epochs) {
    StringBuilder line =
        new StringBuilder(Text.format("%10s", speed == 0 ? "-" : Text.rate(speed)));
    line.append(share("%7s", figures.stall, figures.wall));
    Part.STALLS.forEach(part -> line.append(share("%8s", part.of(figures), figures.wall)));
    return line
        + share("%7s", figures.checkpoint, figures.wall)
        + share("%7s", figures.memoryItems, figures.items)
        + Text.format(" %6d", epochs);
  }

  private static String share(String width, long part, long whole) {
    return " " + Text.format(width, whole <= 0 ? "-" : Text.percent(part, whole));
  }
}
