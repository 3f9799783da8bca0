package io.coordl.reports.demand;

import io.coordl.reports.cluster.DemandTable;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.SpeedLaw;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.advice.Text.Bytes;
import java.util.ArrayList;
import java.util.List;

/** A demand as text: the knee, and samples/s by cores and memory, and by storage rate. */
public final class DemandText {
  private static final int COLUMNS = 6;

  private DemandText() {}

  public static List<String> lines(Demand demand) {
    DemandTable table = demand.table();
    DemandTable.Knee knee = table.knee();
    List<String> lines = new ArrayList<>();
    lines.add("CoorDL demand of " + String.join(", ", demand.recordings()));
    lines.add(demand.knee());
    int storage = table.storageMbs().indexOf(knee.storageMbs());
    int memory = table.memoryGib().indexOf(knee.memoryGib());
    lines.add("");
    lines.add(
        "samples/s by cores and memory for items"
            + (table.storageMbs().size() == 1
                ? ""
                : ", with " + amount(knee.storageMbs()) + " MB/s from storage"));
    List<Integer> columns = sampled(table.memoryGib().size());
    lines.add(row("cores", columns.stream().map(i -> bytes(table.memoryGib().get(i))).toList()));
    for (int i = 0; i < table.cores().size(); i++) {
      List<List<Double>> speeds = table.samplesPerSecond().get(i);
      lines.add(
          row(
              amount(table.cores().get(i)),
              columns.stream().map(j -> amount(speeds.get(j).get(storage))).toList()));
    }
    if (table.storageMbs().size() > 1) {
      lines.add("");
      lines.add(
          "samples/s by cores and MB/s from storage, with "
              + bytes(knee.memoryGib())
              + " for items");
      List<Integer> rates = sampled(table.storageMbs().size());
      lines.add(row("cores", rates.stream().map(i -> amount(table.storageMbs().get(i))).toList()));
      for (int i = 0; i < table.cores().size(); i++) {
        List<Double> speeds = table.samplesPerSecond().get(i).get(memory);
        lines.add(
            row(
                amount(table.cores().get(i)),
                rates.stream().map(k -> amount(speeds.get(k))).toList()));
      }
    }
    lines.add("");
    for (SpeedLaw.Measured point : demand.measured()) {
      lines.add(
          Text.format(
              "Measured on %s with every item in memory: %s samples/s",
              Text.count(point.cores(), "core", "cores"), point.samplesPerSecond().text()));
    }
    if (demand.stepCores() != null) {
      lines.add("A step keeps " + demand.stepCores().text() + " cores busy.");
    }
    for (Missing missing : demand.missing()) {
      lines.add("Missing  " + missing.reason());
    }
    if (!demand.assumptions().isEmpty()) {
      lines.add("Assumptions");
      demand.assumptions().forEach(assumption -> lines.add("- " + assumption));
    }
    return lines;
  }

  /** Returns the indices of the first point, the last, and some in between. */
  private static List<Integer> sampled(int points) {
    List<Integer> some = new ArrayList<>();
    int columns = Math.min(COLUMNS, points);
    for (int i = 0; i < columns; i++) {
      some.add(columns == 1 ? 0 : Math.round((float) i * (points - 1) / (columns - 1)));
    }
    return some;
  }

  private static String bytes(double gib) {
    return new Bytes(Math.round(gib * (1L << 30))).toString();
  }

  private static String row(String first, List<String> cells) {
    StringBuilder row = new StringBuilder(Text.format("%8s", first));
    cells.forEach(cell -> row.append(Text.format("%11s", cell)));
    return row.toString();
  }

  private static String amount(double value) {
    return Text.format(value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.3g", value)
        .replaceFirst("(\\.\\d*?)0+$", "$1")
        .replaceFirst("\\.$", "");
  }
}
