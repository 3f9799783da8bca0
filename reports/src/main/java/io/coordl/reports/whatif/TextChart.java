package io.coordl.reports.whatif;

import static io.coordl.reports.whatif.Question.bytes;
import static io.coordl.reports.whatif.Question.percent;
import static io.coordl.reports.whatif.Question.tenths;

import io.coordl.advice.Text;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Plot;
import io.coordl.reports.whatif.Answer.Point;
import io.coordl.reports.whatif.Answer.Series;
import java.util.ArrayList;
import java.util.List;

/** A plot as a table of its curves. */
final class TextChart {
  private static final int ROWS = 11;
  private static final int FIRST_COLUMN = 14;
  private static final int WIDEST_COLUMN = 22;

  private TextChart() {}

  /** A header, some of the points, and what is shown. */
  static List<String> lines(Plot plot, int width) {
    List<Series> series = plot.series();
    int column = Math.min(WIDEST_COLUMN, (width - FIRST_COLUMN) / series.size());
    List<String> lines = new ArrayList<>();
    lines.add(
        row(
            Text.line(plot.x().name(), FIRST_COLUMN),
            series.stream().map(one -> Text.line(one.name(), column - 2)).toList(),
            column));
    int points = series.get(0).points().size();
    int rows = Math.min(ROWS, points);
    for (int row = 0; row < rows; row++) {
      int at = rows == 1 ? 0 : Math.round((float) row * (points - 1) / (rows - 1));
      lines.add(
          row(
              value(plot.x(), series.get(0).points().get(at).x()),
              series.stream().map(one -> number(plot.y(), one.points().get(at).y())).toList(),
              column));
    }
    Point today = plot.today();
    lines.add(
        plot.y().name()
            + " in "
            + plot.y().unit()
            + (today == null
                ? ""
                : "; today: " + value(plot.x(), today.x()) + ", " + number(plot.y(), today.y())));
    return lines;
  }

  private static String row(String first, List<String> cells, int column) {
    StringBuilder row = new StringBuilder(Text.format("%" + FIRST_COLUMN + "s", first));
    cells.forEach(cell -> row.append(Text.format("%" + column + "s", cell)));
    return row.toString();
  }

  private static String number(Axis axis, Measure y) {
    return axis.unit().equals("share") ? tenths(y.value()) : y.text();
  }

  private static String value(Axis axis, double x) {
    return switch (axis.unit()) {
      case "share" -> percent(x);
      case "bytes/s" -> bytes(x) + "/s";
      case "times" -> Text.format("%.1f", x);
      default -> Text.format("%.0f", x);
    };
  }
}
