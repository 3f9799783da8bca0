package io.coordl.reports.accelerator;

import io.coordl.telemetry.advice.Text;
import java.util.ArrayList;
import java.util.List;

/** An {@link AcceleratorProfile} as text: a line for each number of accelerators. */
public final class AcceleratorText {
  private AcceleratorText() {}

  public static List<String> lines(AcceleratorProfile profile) {
    List<String> lines = new ArrayList<>();
    lines.add(
        Text.format(
            "CoorDL emulated accelerator: steps of %s ms, batches of %s samples, every item from"
                + " storage",
            plain(profile.stepMillis()), plain(profile.batchSamples())));
    lines.add("Accelerators        AU     lowest    samples/s   from storage");
    for (AcceleratorProfile.Run run : profile.runs()) {
      lines.add(
          Text.format(
              "  %10d   %5.1f %%    %5.1f %%   %10.1f   %7.1f MB/s",
              run.accelerators(),
              100 * run.utilisation(),
              100 * run.lowest(),
              run.samplesPerSecond(),
              run.storageBytesPerSecond() / 1e6));
    }
    lines.add(verdict(profile));
    profile.remarks().forEach(remark -> lines.add("Remark      " + remark));
    return lines;
  }

  private static String verdict(AcceleratorProfile profile) {
    long threshold = Math.round(100 * profile.threshold());
    String beyond =
        profile.runs().stream()
            .filter(run -> run.accelerators() > profile.fed())
            .findFirst()
            .map(
                run ->
                    Text.format("; %d have %.1f %%", run.accelerators(), 100 * run.utilisation()))
            .orElse("");
    return profile.fed() == 0
        ? Text.format(
            "This host does not feed even one such accelerator: its utilisation is below %d %%.",
            threshold)
        : Text.format(
            "This host feeds %d such accelerator%s at %d %% utilisation or more%s.",
            profile.fed(), profile.fed() == 1 ? "" : "s", threshold, beyond);
  }

  private static String plain(double value) {
    return value == Math.rint(value) ? Text.format("%.0f", value) : Text.format("%.2f", value);
  }
}
