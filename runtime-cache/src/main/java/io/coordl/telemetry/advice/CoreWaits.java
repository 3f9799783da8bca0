package io.coordl.telemetry.advice;

import io.coordl.telemetry.advice.Text.Nanos;
import io.coordl.telemetry.event.Figures;
import java.util.ArrayList;
import java.util.List;

/** Waits for a core and pauses inside other parts of the time, in words. */
public final class CoreWaits {
  private CoreWaits() {}

  /** What is inside the steps besides computing; empty if there is next to nothing. */
  public static String inSteps(Figures figures) {
    List<String> parts = new ArrayList<>();
    add(parts, "waiting for a core ", figures.computeCoreWait, figures);
    add(parts, "GC ", figures.gcPauses - figures.gcStall, figures);
    return parts.isEmpty() ? "" : "of it " + String.join(", ", parts);
  }

  /** The same for the waits for batches. */
  public static String inPreparation(Figures figures) {
    List<String> parts = new ArrayList<>();
    add(parts, "preparing threads waited for a core ", figures.prepCoreWait, figures);
    return String.join("", parts);
  }

  private static void add(List<String> parts, String what, long nanos, Figures figures) {
    if (figures.share(nanos) >= Part.SHOWN) {
      parts.add(what + new Nanos(nanos));
    }
  }
}
