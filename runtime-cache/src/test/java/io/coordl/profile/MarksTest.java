package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MarksTest {
  private static final long BEGUN = 7_000;

  private static List<Step> after(long items) {
    Marks marks = new Marks();
    for (long number = 1; number <= items; number++) {
      if (marks.wants(number)) {
        marks.add(number, BEGUN + 10 * number);
      }
    }
    return marks.windows(BEGUN, 20);
  }

  @ParameterizedTest
  @ValueSource(longs = {5, 19, 20, 1_000, Marks.MAX_TIMES, Marks.MAX_TIMES + 1, 3_000_001})
  void windowsCoverNearlyAllItemsAndTheirTime(long items) {
    List<Step> windows = after(items);

    assertThat(windows).hasSize((int) Math.min(20, items));
    assertThat(windows).allMatch(window -> window.nanos() == 10L * window.samples());
    // The last items may be unmarked: at most 2 / MAX_TIMES of all items.
    assertThat(windows.stream().mapToLong(Step::samples).sum())
        .isBetween(items - 2 * items / Marks.MAX_TIMES, items);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 4})
  void tooFewItemsGiveNoWindows(long items) {
    assertThat(after(items)).isEmpty();
  }
}
