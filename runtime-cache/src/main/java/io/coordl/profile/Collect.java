package io.coordl.profile;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Copies the bytes of a few batches as the program takes them, for the ingestion phase. */
final class Collect extends Stage {
  private static final int BATCHES = 4;

  private final List<Batches.Kept> kept = new ArrayList<>();
  private String reason = "";
  private int seen;

  Collect(Plan plan) {
    super(plan, "ingestion, keeping a few batches");
  }

  @Override
  Next get(BatchGet get) {
    return seen >= BATCHES || !reason.isEmpty() ? Next.DONE : Next.OWN;
  }

  @Override
  void took(BatchGet get, Object batch, @Nullable Step step) {
    try {
      Batches.Kept copy = get.batches.keep(batch);
      int largest = kept.isEmpty() ? 0 : kept.get(0).samples();
      if (copy.samples() > largest) {
        kept.clear(); // The last batch of an epoch may be smaller than the others.
      }
      if (copy.samples() >= largest) {
        kept.add(copy);
      }
      seen++;
    } catch (RuntimeException | LinkageError e) {
      reason = "a batch cannot be kept as bytes: " + e.getMessage();
    }
  }

  @Override
  void end() {
    if (kept.isEmpty() || !reason.isEmpty()) {
      plan.results.notMeasured(
          Plan.INGESTION, reason.isEmpty() ? "the program ended first" : reason);
    } else {
      plan.kept = List.copyOf(kept);
    }
  }
}
