package io.coordl.telemetry.advice;

import io.coordl.telemetry.advice.Text.Nanos;
import io.coordl.telemetry.event.Figures;
import java.util.ArrayList;
import java.util.List;

/** Describes waits for a core and GC pauses, which are inside other parts of the time. */
public final class CoreWaits {
  private CoreWaits() {}

  /** Names what takes time in the steps besides computing; empty if negligible. */
  public static String inSteps(Figures figures) {
    List<String> parts = new ArrayList<>();
    add(parts, Sentence.CORE_WAIT, figures.computeCoreWait, figures);
    add(parts, Sentence.GC_PAUSES, figures.gcPauses - figures.gcStall, figures);
    return parts.isEmpty() ? "" : Sentence.IN_STEPS.with(String.join(", ", parts));
  }

  /** Describes how long the preparing threads waited for a core; empty if negligible. */
  public static String inPreparation(Figures figures) {
    List<String> parts = new ArrayList<>();
    add(parts, Sentence.PREPARING_CORE_WAIT, figures.prepCoreWait, figures);
    return String.join("", parts);
  }

  private static void add(List<String> parts, Sentence what, long nanos, Figures figures) {
    if (figures.share(nanos) >= Part.SHOWN) {
      parts.add(what.with(new Nanos(nanos)));
    }
  }
}
