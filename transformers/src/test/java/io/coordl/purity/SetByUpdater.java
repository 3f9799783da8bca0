package io.coordl.purity;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * Sets a private field by name. Has its own nest, because the analysis assumes that such code may
 * set any private field of its nest.
 */
final class SetByUpdater {
  private static final AtomicIntegerFieldUpdater<Factor> FACTOR =
      AtomicIntegerFieldUpdater.newUpdater(Factor.class, "factor");

  private SetByUpdater() {}

  static void set(Factor part, int to) {
    FACTOR.set(part, to);
  }

  static final class Factor implements PurityAnalyzerTest.Part {
    private volatile int factor = 1;

    @Override
    public float apply(float value) {
      return value * factor;
    }
  }
}
