package io.coordl.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** A text table; the first column is left-aligned, all others right-aligned. */
final class TextTable {
  private final List<List<String>> rows = new ArrayList<>();

  TextTable(String... header) {
    rows.add(List.of(header));
  }

  /** Adds a row with as many cells as the header. */
  TextTable row(String... cells) {
    if (cells.length != rows.get(0).size()) {
      throw new IllegalArgumentException(
          "Row of " + cells.length + " cells, expected " + rows.get(0).size() + ".");
    }
    rows.add(List.of(cells));
    return this;
  }

  @Override
  public String toString() {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    // Two blanks before every column.
    for (int r = 0; r < rows.size(); r++) {
      for (int i = 0; i < columns; i++) {
        String cell = rows.get(r).get(i);
        String padding = " ".repeat(widths[i] - cell.length());
        text.append("  ").append(i == 0 ? cell + padding : padding + cell);
      }
      text.append('\n');
      if (r == 0) {
        for (int width : widths) {
          text.append("  ").append("-".repeat(width));
        }
        text.append('\n');
      }
    }
    return text.toString();
  }
}
