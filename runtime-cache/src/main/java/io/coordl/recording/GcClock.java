package io.coordl.recording;

import io.coordl.attribution.GcPauses;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/**
 * Total time this JVM's collectors have stopped the program. Read once a batch (under a
 * microsecond); the beans count in milliseconds, so single readings are coarse and sums are right.
 * Whole cycles of concurrent collectors, which stop little, are left out. G1's Remark and Cleanup
 * pauses have a bean from JDK 20 on only. Safe for concurrent use.
 */
final class GcClock implements GcPauses {
  private static final String SYSTEM_GC = "System.gc()";

  private final List<GarbageCollectorMXBean> pausing =
      ManagementFactory.getGarbageCollectorMXBeans().stream()
          .filter(bean -> !bean.getName().contains("Cycles"))
          .toList();
  private final LongAdder askedForMillis = new LongAdder();

  /** Pauses since the start of the JVM, in nanoseconds. */
  @Override
  public long getAsLong() {
    long millis = 0;
    for (GarbageCollectorMXBean bean : pausing) {
      millis += Math.max(0, bean.getCollectionTime());
    }
    return millis * 1_000_000;
  }

  /** From now on it is heard why the collectors run. */
  void hearCauses() {
    long from = ManagementFactory.getRuntimeMXBean().getUptime(); // Others are told of late.
    for (GarbageCollectorMXBean bean : pausing) {
      if (bean instanceof NotificationEmitter emitter) {
        try {
          emitter.addNotificationListener(
              (notification, unused) -> hear(notification, from), null, null);
        } catch (SecurityException e) {
          return; // Then nobody has asked, as far as is known.
        }
      }
    }
  }

  private void hear(Notification notification, long from) {
    // By name, as the class that knows these names may be missing: the module jdk.management.
    if (notification.getUserData() instanceof CompositeData collection
        && collection.containsKey("gcCause")
        && SYSTEM_GC.equals(collection.get("gcCause"))
        && collection.get("gcInfo") instanceof CompositeData info
        && info.get("startTime") instanceof Long start
        && start >= from
        && info.get("duration") instanceof Long millis) {
      askedForMillis.add(millis);
    }
  }

  /** Since {@link #hearCauses}; notifications round each pause in their own way. */
  @Override
  public long explicit() {
    return Math.min(askedForMillis.sum() * 1_000_000, getAsLong());
  }
}
