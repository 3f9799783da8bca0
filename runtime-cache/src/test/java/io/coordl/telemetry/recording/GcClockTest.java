package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.Waits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GcClockTest {
  @Test
  void explicitCollectionsAreCounted() throws InterruptedException {
    GcClock clock = new GcClock();
    clock.listenForCauses();
    List<byte[]> live = new ArrayList<>();
    long end = System.nanoTime() + Waits.LONG.toNanos();
    while (clock.explicit() == 0) { // A collection of less than 1 ms does not count.
      assertThat(System.nanoTime()).isLessThan(end);
      for (int i = 0; i < 1_000; i++) {
        live.add(new byte[1_000]);
      }
      System.gc();
      Thread.sleep(10);
    }
    assertThat(clock.explicit()).isLessThanOrEqualTo(clock.getAsLong());
    assertThat(live).isNotEmpty();
  }

  @Test
  void otherCollectionsAreNotCountedAsExplicit() {
    GcClock clock = new GcClock();
    clock.listenForCauses();
    long end = System.nanoTime() + Waits.LONG.toNanos();
    List<byte[]> live = new ArrayList<>();
    long before = clock.getAsLong();
    while (clock.getAsLong() == before) {
      assertThat(System.nanoTime()).isLessThan(end);
      live.add(new byte[1 << 20]);
      if (live.size() > 64) {
        live.clear();
      }
    }
    assertThat(clock.explicit()).isZero();
  }
}
