package io.coordl.reports.cluster;

import org.jspecify.annotations.Nullable;

/** A {@link Placer}'s view of a job: the resources it can use and holds. Single-threaded. */
final class Tenant {
  final int gpus;

  /**
   * Amount of each {@link Resource} that one GPU can use, limited to what a server can give it.
   * Jobs with the same array also have the same number of GPUs.
   */
  final double[] ideal;

  /** The smaller of {@link #ideal} and the proportional share, for each resource. */
  final double[] share;

  /** Whether restarting elsewhere pays off if the job then gets all it can use. */
  final boolean movingPays;

  /** Its placement in the previous round; null if it may be placed anywhere. */
  @Nullable Placement before;

  /** Its placement; null while it waits. */
  @Nullable Placement placement;

  Tenant(int gpus, double[] ideal, double[] fair, boolean movingPays) {
    this.gpus = gpus;
    this.ideal = ideal;
    this.movingPays = movingPays;
    share = new double[Resource.COUNT];
    for (int r = 0; r < share.length; r++) {
      share[r] = Math.min(ideal[r], fair[r]);
    }
  }

  Placement placed() {
    if (placement == null) {
      throw new IllegalStateException("the job is not placed; GPUs: " + gpus);
    }
    return placement;
  }

  /** Returns whether it holds more than its share of any resource. */
  boolean canShrink() {
    return placed().perGpu() == ideal && wantsMore();
  }

  private boolean wantsMore() {
    for (int r = 0; r < Resource.COUNT; r++) {
      if (ideal[r] > share[r]) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the excess of its demand over {@code fair}, in units of {@code fair}: the maximum over
   * all resources.
   */
  double excess(double[] fair) {
    double largest = 0;
    for (int r = 0; r < Resource.COUNT; r++) {
      if (ideal[r] > share[r]) {
        largest = Math.max(largest, ideal[r] / fair[r] - 1);
      }
    }
    return largest;
  }
}
