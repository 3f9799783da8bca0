package io.coordl.reports.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EventHandoverTest {
  private record Event(
      FrequentType type, long start, long duration, List<Long> numbers, @Nullable String text) {}

  private static FrequentEvents into(List<Event> events) {
    return (type, start, duration, numbers, text) ->
        events.add(
            new Event(
                type,
                start,
                duration,
                Arrays.stream(numbers).boxed().toList(),
                text == null ? null : text.toString()));
  }

  @Test
  void handsOverEveryEventAsItIsAndInOrder() {
    List<Event> expected = new ArrayList<>();
    List<Event> taken = new ArrayList<>();
    FrequentEvents reference = into(expected);
    Random random = new Random(7);
    List<FrequentType> types = List.of(FrequentType.values());
    try (EventHandover handover = new EventHandover(into(taken))) {
      for (int i = 0; i < 50_000; i++) {
        FrequentType type = types.get(random.nextInt(types.size()));
        long[] numbers = random.longs(type.numbers().size()).toArray();
        String text = random.nextInt(4) == 0 ? null : "ä/".repeat(random.nextInt(40));
        // Now and then a text that no block has room for, and one that just fills it.
        if (i % 20_000 == 7) {
          text = "long".repeat(200_000);
        }
        for (FrequentEvents one : List.of(reference, handover)) {
          one.accept(type, i, i / 2, numbers, text == null ? null : RecordedText.of(text));
        }
      }
      handover.finish();
    }
    assertThat(taken).isEqualTo(expected);
  }

  @Test
  void whatTheTakerThrowsReachesTheReader() {
    FrequentEvents failing =
        (type, start, duration, numbers, text) -> {
          throw new ArithmeticException("times too far apart");
        };
    try (EventHandover handover = new EventHandover(failing)) {
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 100_000; i++) {
                  handover.accept(FrequentType.STEP, i, 1, new long[2], null);
                }
                handover.finish();
              })
          .isInstanceOf(ArithmeticException.class);
    }
  }
}
