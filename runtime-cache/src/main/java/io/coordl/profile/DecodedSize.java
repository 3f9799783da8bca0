package io.coordl.profile;

import io.coordl.cache.DecodedSizes;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The program's own steps, while it is learned how many bytes its items take once they are decoded.
 * They are not timed: what learns is in their way.
 */
final class DecodedSize extends Stage {
  private static final long ITEMS = 200;
  private static final int MOST_STEPS = 100;
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(15);

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
    boolean inVain = items == 0 && steps > plan.transition();
    boolean over = steps >= MOST_STEPS || System.nanoTime() - begun >= MOST_NANOS;
    return items >= ITEMS || inVain || over ? Next.DONE : Next.OWN;
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
