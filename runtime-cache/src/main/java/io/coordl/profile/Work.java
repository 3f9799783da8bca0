package io.coordl.profile;

import com.sun.management.OperatingSystemMXBean;
import io.coordl.advice.Figures;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;

/** What was done in some stretch of the job, in nanoseconds, counts and bytes. */
record Work(
    long compute,
    long stall,
    long fetchStall,
    long prepStall,
    long gcStall,
    long queueStall,
    long fetchTime,
    long decodeTime,
    long prepTime,
    long items,
    long storageItems,
    long memoryBytes,
    long storageBytes,
    long cpu) {
  private static final @Nullable OperatingSystemMXBean SYSTEM =
      ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean known
          ? known
          : null;

  static final Work NONE = new Work(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  static Work of(Figures now) {
    return new Work(
        now.computeNanos(),
        now.stallNanos(),
        now.fetchStallNanos(),
        now.prepStallNanos(),
        now.gcStallNanos(),
        now.queueStallNanos(),
        now.fetchTimeNanos(),
        now.decodeTimeNanos(),
        now.decodeTimeNanos() + now.transformTimeNanos() + now.otherTimeNanos(),
        now.items(),
        now.storageItems(),
        now.memoryBytes(),
        now.storageBytes(),
        SYSTEM == null ? 0 : SYSTEM.getProcessCpuTime());
  }

  Work minus(Work o) {
    return plus(o, -1);
  }

  Work plus(Work o) {
    return plus(o, 1);
  }

  private Work plus(Work o, int sign) {
    return new Work(
        compute + sign * o.compute,
        stall + sign * o.stall,
        fetchStall + sign * o.fetchStall,
        prepStall + sign * o.prepStall,
        gcStall + sign * o.gcStall,
        queueStall + sign * o.queueStall,
        fetchTime + sign * o.fetchTime,
        decodeTime + sign * o.decodeTime,
        prepTime + sign * o.prepTime,
        items + sign * o.items,
        storageItems + sign * o.storageItems,
        memoryBytes + sign * o.memoryBytes,
        storageBytes + sign * o.storageBytes,
        cpu + sign * o.cpu);
  }

  /** As a step of {@code nanos} that waited for nothing. */
  Work withoutStall(long nanos) {
    return new Work(
        nanos,
        0,
        0,
        0,
        0,
        0,
        fetchTime,
        decodeTime,
        prepTime,
        items,
        storageItems,
        memoryBytes,
        storageBytes,
        cpu);
  }
}
