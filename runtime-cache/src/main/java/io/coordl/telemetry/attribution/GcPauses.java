package io.coordl.telemetry.attribution;

import java.util.function.LongSupplier;

/**
 * Total time that garbage collections have paused this JVM so far, in nanoseconds. Safe for
 * concurrent use.
 */
@FunctionalInterface
public interface GcPauses extends LongSupplier {
  /** Returns the part caused by calls of {@code System.gc()}. */
  default long explicit() {
    return 0;
  }
}
