package io.coordl.reports.accelerator;

import io.coordl.reports.recording.RecordingException;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Utilisation of emulated accelerators. Serialised to the JSON that {@code accelerator.schema.json}
 * describes.
 *
 * @param stepMillis step time of an accelerator for a batch
 * @param batchSamples mean samples of a step
 * @param threshold mean utilisation from which accelerators count as fed, 0 to 1
 * @param fed the largest number of accelerators that were fed; 0 if not even one was
 * @param runs one per number of accelerators, ascending
 * @param remarks why more were not tried, and how items were read
 */
public record AcceleratorProfile(
    int schemaVersion,
    double stepMillis,
    double batchSamples,
    double threshold,
    int fed,
    List<Run> runs,
    List<String> remarks) {
  static final int SCHEMA_VERSION = 1;

  /** MLPerf Storage requires this utilisation for most of its models. */
  static final double THRESHOLD = 0.9;

  /**
   * A run with one or more accelerators at the same time.
   *
   * @param utilisation their mean utilisation: time in steps divided by total time, 0 to 1
   * @param lowest the lowest utilisation of any of them
   * @param samplesPerSecond total samples per second
   * @param storageBytesPerSecond total bytes per second from storage
   */
  public record Run(
      int accelerators,
      double utilisation,
      double lowest,
      double samplesPerSecond,
      double storageBytesPerSecond) {

    /** Combines the phases of one or more instances that ran at the same time. */
    static Run of(List<PhaseEvent> instances) {
      return new Run(
          instances.size(),
          instances.stream().mapToDouble(Run::utilisation).average().orElseThrow(),
          instances.stream().mapToDouble(Run::utilisation).min().orElseThrow(),
          instances.stream().mapToDouble(each -> 1e9 * each.samples / each.wall).sum(),
          instances.stream().mapToDouble(each -> 1e9 * each.storageBytes / each.wall).sum());
    }

    private static double utilisation(PhaseEvent phase) {
      return Math.min(1, (double) phase.compute / phase.wall);
    }

    boolean isFed() {
      return utilisation >= THRESHOLD;
    }
  }

  /** Runs several instances of the program, each with its own emulated accelerator. */
  public interface Instances {
    /** Returns the phase event of each instance. */
    List<PhaseEvent> run(int count) throws RecordingException;
  }

  /**
   * Measures with 1, 2, 4, ... instances until they are no longer fed, then does a binary search
   * between the last two counts.
   *
   * @param max largest number of instances to try
   */
  public static AcceleratorProfile of(double stepMillis, int max, Instances instances)
      throws RecordingException {
    List<Run> runs = new ArrayList<>();
    List<String> remarks = new ArrayList<>();
    double batch = 0;
    int fed = 0;
    int unfed = max + 1;
    while (unfed - fed > 1) {
      int count = unfed > max ? Math.min(max, Math.max(1, 2 * fed)) : (fed + unfed) / 2;
      List<PhaseEvent> measured;
      try {
        measured = instances.run(count);
      } catch (RecordingException e) {
        if (runs.isEmpty()) {
          throw e;
        }
        remarks.add("%d instances could not be measured: %s".formatted(count, e.getMessage()));
        break;
      }
      if (runs.isEmpty()) {
        batch = (double) measured.get(0).samples / measured.get(0).steps;
        String note = measured.get(0).note;
        if (note != null && !note.isEmpty()) {
          remarks.add("items came from storage, but: " + note);
        }
      }
      Run run = Run.of(measured);
      runs.add(run);
      if (run.isFed()) {
        fed = count;
      } else {
        unfed = count;
      }
    }
    if (fed == max) {
      remarks.add("more than " + max + " were not tried (--up-to)");
    }
    runs.sort(Comparator.comparingInt(Run::accelerators));
    return new AcceleratorProfile(SCHEMA_VERSION, stepMillis, batch, THRESHOLD, fed, runs, remarks);
  }
}
