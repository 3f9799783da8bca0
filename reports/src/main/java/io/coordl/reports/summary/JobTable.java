package io.coordl.reports.summary;

import io.coordl.telemetry.advice.Part;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.Figures;

/**
 * Formats a table with a line for each job: its speed, and its waits in percent of its time. All
 * tables share these columns, which fit a terminal of 80 columns.
 */
public final class JobTable {
  private JobTable() {}

  public static String header() {
    StringBuilder header = new StringBuilder(Text.format("%9s %5s", "samples/s", "stall"));
    Part.STALLS.forEach(part -> header.append(Text.format(width(part), part.cause())));
    return header + Text.format(" %5s %6s %6s", "saves", "memory", "epochs");
  }

  private static String width(Part part) {
    return " %" + Math.max(5, part.cause().length()) + "s";
  }

  /**
   * Formats one line.
   *
   * @param speed in samples per second; 0 if unknown
   * @param figures figures whose shares are shown
   * @param epochs number of epochs so far
   * @param withoutFetch items served from memory, decoded or prepared, and therefore not fetched
   */
  public static String line(double speed, Figures figures, long epochs, long withoutFetch) {
    StringBuilder line = new StringBuilder(Text.format("%9s", speed == 0 ? "-" : Text.rate(speed)));
    line.append(percent(" %5s", figures.stall, figures.wall));
    Part.STALLS.forEach(part -> line.append(percent(width(part), part.of(figures), figures.wall)));
    return line
        + percent(" %5s", figures.checkpoint, figures.wall)
        + percent(" %6s", figures.memoryItems + withoutFetch, figures.items + withoutFetch)
        + Text.format(" %6d", epochs);
  }

  /** Omits the percent sign, because a heading of the table names the unit. */
  private static String percent(String width, long part, long whole) {
    return Text.format(width, Text.percent(part, whole).replace(" %", ""));
  }
}
