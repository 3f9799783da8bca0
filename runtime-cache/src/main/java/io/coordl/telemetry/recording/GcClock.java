package io.coordl.telemetry.recording;

import io.coordl.telemetry.attribution.GcPauses;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/**
 * Total time that this JVM's collectors have paused the program. Read several times per batch; a
 * reading takes less than a microsecond. The beans count in milliseconds, so single readings are
 * coarse but sums are accurate. Beans of whole concurrent cycles are ignored, because most of a
 * cycle runs without a pause. G1's Remark and Cleanup pauses have a bean only since JDK 20. Safe
 * for concurrent use.
 */
final class GcClock implements GcPauses {
  private static final String SYSTEM_GC = "System.gc()";

  private final List<GarbageCollectorMXBean> pausing =
      ManagementFactory.getGarbageCollectorMXBeans().stream()
          .filter(bean -> !bean.getName().contains("Cycles"))
          .toList();
  private final LongAdder explicitMillis = new LongAdder();

  /** Returns the pauses since the start of the JVM, in nanoseconds. */
  @Override
  public long getAsLong() {
    long millis = 0;
    for (GarbageCollectorMXBean bean : pausing) {
      millis += Math.max(0, bean.getCollectionTime());
    }
    return millis * 1_000_000;
  }

  /** Starts listening for the causes of collections. */
  void listenForCauses() {
    long from = ManagementFactory.getRuntimeMXBean().getUptime(); // Notifications may arrive late.
    for (GarbageCollectorMXBean bean : pausing) {
      if (bean instanceof NotificationEmitter emitter) {
        try {
          emitter.addNotificationListener(
              (notification, unused) -> onCollection(notification, from), null, null);
        } catch (SecurityException e) {
          return; // Explicit collections then remain unknown.
        }
      }
    }
  }

  private void onCollection(Notification notification, long from) {
    // By name: the class with these constants is in jdk.management, which may be missing.
    if (notification.getUserData() instanceof CompositeData collection
        && collection.containsKey("gcCause")
        && SYSTEM_GC.equals(collection.get("gcCause"))
        && collection.get("gcInfo") instanceof CompositeData info
        && info.get("startTime") instanceof Long start
        && start >= from
        && info.get("duration") instanceof Long millis) {
      explicitMillis.add(millis);
    }
  }

  /**
   * Returns the explicit pauses since {@link #listenForCauses}; limited to the total, because
   * notifications round differently.
   */
  @Override
  public long explicit() {
    return Math.min(explicitMillis.sum() * 1_000_000, getAsLong());
  }
}
