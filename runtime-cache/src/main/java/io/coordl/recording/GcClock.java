package io.coordl.recording;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Total time this JVM's collectors have stopped the program. Read once a batch (under a
 * microsecond); the beans count in milliseconds, so single readings are coarse and sums are right.
 * Collectors' concurrent phases, which stop nothing, are left out.
 */
final class GcClock implements LongSupplier {
  private final List<GarbageCollectorMXBean> pausing = new ArrayList<>();

  GcClock() {
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      String name = bean.getName();
      if (!name.contains("Cycles") && !name.contains("Concurrent")) {
        pausing.add(bean);
      }
    }
  }

  /** Pauses since the start of the JVM, in nanoseconds. */
  @Override
  public long getAsLong() {
    long millis = 0;
    for (GarbageCollectorMXBean bean : pausing) {
      millis += Math.max(0, bean.getCollectionTime());
    }
    return millis * 1_000_000;
  }
}
