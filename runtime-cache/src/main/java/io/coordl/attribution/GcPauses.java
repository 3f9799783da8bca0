package io.coordl.attribution;

import java.util.function.LongSupplier;

/**
 * Total time that collections have stopped this JVM so far, in nanoseconds. Safe for concurrent
 * use.
 */
@FunctionalInterface
public interface GcPauses extends LongSupplier {
  /** Of it, collections that code asked for by {@code System.gc()}. */
  default long explicit() {
    return 0;
  }
}
