package io.coordl.reports.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.telemetry.advice.Part;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TimeLineTest {
  private static final long START = 1_700_000_000_000_000_000L;
  private static final long MILLISECOND = 1_000_000;

  private final TimeLine line = new TimeLine();

  private static long sum(List<Long> slots) {
    return slots.stream().mapToLong(Long::longValue).sum();
  }

  @Test
  void aSpanIsSpreadOverItsSlots() {
    line.add(Part.COMPUTE, 4 * MILLISECOND, START, 4 * MILLISECOND);
    line.add(Part.FETCH_STALL, MILLISECOND, START + MILLISECOND / 2, 2 * MILLISECOND);

    Activity.Times times = line.times();

    assertThat(times.startNanos()).isEqualTo(START);
    assertThat(times.slotNanos()).isEqualTo(MILLISECOND);
    assertThat(times.parts().get(Part.COMPUTE))
        .containsExactly(MILLISECOND, MILLISECOND, MILLISECOND, MILLISECOND, 0L);
    assertThat(times.parts().get(Part.FETCH_STALL))
        .containsExactly(MILLISECOND / 4, MILLISECOND / 2, MILLISECOND / 4, 0L, 0L);
  }

  @Test
  void anInstantaneousSpanIsInOneSlot() {
    line.add(Part.COMPUTE, MILLISECOND, START, 0);
    assertThat(line.times().parts().get(Part.COMPUTE)).containsExactly(MILLISECOND);
  }

  /** Adds spans in random order, over a range of time that grows. */
  @Test
  void noTimeIsLostAndTheNumberOfSlotsIsBounded() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    long all = 0;
    long last = START;
    long first = START;
    for (int i = 0; i < 10_000; i++) {
      long start = START + (random.nextLong(200_000) - 100_000) * MILLISECOND * (1 + i / 1_000);
      long duration = random.nextLong(5_000 * MILLISECOND);
      long amount = random.nextLong(duration + 1);
      first = Math.min(first, start);
      last = Math.max(last, start + duration);
      all += amount;
      line.add(Part.PREP_STALL, amount, start, duration);
    }

    Activity.Times times = line.times();

    assertThat(sum(times.parts().get(Part.PREP_STALL))).as("seed %s", seed).isEqualTo(all);
    assertThat(times.parts().get(Part.PREP_STALL))
        .hasSizeBetween(TimeLine.SLOTS / 4, TimeLine.SLOTS);
    assertThat(times.parts().get(Part.PREP_STALL)).allMatch(nanos -> nanos >= 0);
    assertThat(times.startNanos()).isLessThanOrEqualTo(first);
    assertThat(times.startNanos() + times.slotNanos() * times.parts().get(Part.PREP_STALL).size())
        .isGreaterThanOrEqualTo(last);
  }

  @Test
  void timesTooFarApartAreRefused() {
    line.add(Part.COMPUTE, 1, Long.MIN_VALUE / 2 - 10, 1);
    assertThatThrownBy(() -> line.add(Part.COMPUTE, 1, Long.MAX_VALUE - 1, 1))
        .isInstanceOf(ArithmeticException.class);
  }

  @Test
  void withoutEventsThereAreNoSlots() {
    assertThat(line.times().parts().get(Part.COMPUTE)).isEmpty();
    assertThat(line.times().startNanos()).isZero();
  }
}
