package io.coordl.reports.recording;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NameTotalsTest {

  @Test
  void theSlowestComeFirstAndTheRestIsSummed() {
    NameTotals totals = new NameTotals(100, 2);
    totals.add("a", 10, 1, false);
    totals.add("b", 30, 2, true);
    totals.add("a", 15, 3, true);
    totals.add(null, 20, 4, false);

    Activity.Names names = totals.names();

    assertThat(names.known()).isEqualTo(3);
    assertThat(names.slowest())
        .containsExactly(
            new Activity.Total("b", 1, 30, 30, 2, 1), new Activity.Total("a", 2, 25, 15, 4, 1));
    assertThat(names.others()).isEqualTo(new Activity.Total("", 1, 20, 20, 4, 0));
    assertThat(names.unnamed()).isZero();
  }

  @Test
  void manyNamesAreDistinguished() {
    NameTotals totals = new NameTotals(100_000, 1);
    for (int turn = 0; turn < 2; turn++) {
      for (int i = 0; i < 50_000; i++) {
        totals.add("/data/" + i + ".jpg", i, 1, false);
      }
    }

    Activity.Names names = totals.names();

    assertThat(names.known()).isEqualTo(50_000);
    assertThat(names.slowest())
        .containsExactly(new Activity.Total("/data/49999.jpg", 2, 2 * 49_999, 49_999, 2, 0));
    assertThat(names.others().count()).isEqualTo(2 * 49_999);
    assertThat(names.others().longestNanos()).isEqualTo(49_998);
  }

  @Test
  void namesBeyondTheLimitAreCountedTogether() {
    NameTotals totals = new NameTotals(2, 2);
    for (String name : new String[] {"a", "b", "c", "d", "c", "a"}) {
      totals.add(name, 1, 1, false);
    }

    Activity.Names names = totals.names();

    assertThat(names.known()).isEqualTo(2);
    assertThat(names.slowest()).extracting(Activity.Total::count).containsExactly(2L, 1L);
    assertThat(names.others()).isEqualTo(new Activity.Total("", 3, 3, 1, 3, 0));
    assertThat(names.unnamed()).isEqualTo(3);
  }
}
