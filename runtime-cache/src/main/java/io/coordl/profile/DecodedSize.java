package io.coordl.profile;

import io.coordl.store.DecodedSizes;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Measures the decoded size of items during the program's own steps. These steps are not timed,
 * because the measurement slows them down.
 */
final class DecodedSize extends Stage {
  private static final long ITEMS = 200;
  private static final int MAX_STEPS = 100;
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(15);

  private final DecodedSizes sizes;
  private long begun;
  private int steps;

  DecodedSize(Plan plan, DecodedSizes sizes) {
    super(plan, "size of decoded items");
    this.sizes = sizes;
  }

  @Override
  void begin() {
    begun = System.nanoTime();
    sizes.learn(true);
  }

  @Override
  Next get(BatchGet get) {
    long items = sizes.items();
    boolean isHopeless = items == 0 && steps > plan.transition();
    boolean over = steps >= MAX_STEPS || System.nanoTime() - begun >= MAX_NANOS;
    return items >= ITEMS || isHopeless || over ? Next.DONE : Next.OWN;
  }

  @Override
  void took(BatchGet get, Object batch, @Nullable Step step) {
    steps++;
  }

  @Override
  void end() {
    sizes.learn(false);
    plan.rates.measured.decodedItemBytes = sizes.meanBytes();
  }
}
