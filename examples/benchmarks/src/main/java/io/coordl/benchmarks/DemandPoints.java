package io.coordl.benchmarks;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * The table that {@code coordl demand --json} printed: samples per second by cores, memory for
 * items and storage rate, interpolated linearly between its points.
 *
 * @param cores points of its first axis
 * @param memoryGib points of its second axis
 * @param storageMbs points of its third axis
 * @param speeds samples per second
 */
record DemandPoints(
    List<Double> cores, List<Double> memoryGib, List<Double> storageMbs, JsonNode speeds) {
  static DemandPoints of(JsonNode demand) {
    JsonNode table = demand.path("table");
    return new DemandPoints(
        axis(table.path("cores")),
        axis(table.path("memoryGib")),
        axis(table.path("storageMbs")),
        table.path("samplesPerSecond"));
  }

  private static List<Double> axis(JsonNode points) {
    List<Double> axis = new ArrayList<>();
    points.forEach(point -> axis.add(Double.valueOf(point.doubleValue())));
    return axis;
  }

  /** Returns the number of points of the whole table. */
  int count() {
    return cores.size() * memoryGib.size() * storageMbs.size();
  }

  /** Returns the memory that suffices for every item, in GiB. */
  double allMemory() {
    return memoryGib.get(memoryGib.size() - 1);
  }

  /** Returns the samples per second; outside the table, those at its edge. */
  double speed(double withCores, double withMemoryGib, double withStorageMbs) {
    double row = position(cores, withCores);
    double column = position(memoryGib, withMemoryGib);
    double layer = position(storageMbs, withStorageMbs);
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
      boolean lower = (corner & 1) == 0;
      boolean left = (corner & 2) == 0;
      boolean slow = (corner & 4) == 0;
      double weight = part(row, lower) * part(column, left) * part(layer, slow);
      if (weight > 0) {
        sum +=
            weight
                * speeds
                    .path(index(row, lower))
                    .path(index(column, left))
                    .path(index(layer, slow))
                    .doubleValue();
      }
    }
    return sum;
  }

  private static double part(double position, boolean below) {
    double above = position - Math.floor(position);
    return below ? 1 - above : above;
  }

  private static int index(double position, boolean below) {
    return (int) position + (below ? 0 : 1);
  }

  private static double position(List<Double> axis, double value) {
    if (value <= axis.get(0)) {
      return 0;
    }
    for (int i = 1; i < axis.size(); i++) {
      if (value < axis.get(i)) {
        return i - 1 + (value - axis.get(i - 1)) / (axis.get(i) - axis.get(i - 1));
      }
    }
    return axis.size() - 1;
  }
}
