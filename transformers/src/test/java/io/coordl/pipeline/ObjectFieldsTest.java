package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Reads and sets the fields of an object whose class the agent does not know. */
class ObjectFieldsTest {
  private static class Base {
    double level = 0.5;
  }

  /** Another thread sets {@code stop}. */
  @SuppressWarnings("UnusedVariable") // Read by reflection.
  private static final class Rows extends Base {
    int row = 3;
    volatile boolean stop;
    final int size = Integer.parseInt("10");
    String name = "rows";
  }

  private static ObjectFields fields() {
    return new ObjectFields(Rows.class, any -> true);
  }

  @Test
  void numbersOfAllClassesAreRead() {
    Rows rows = new Rows();
    assertThat(fields().numbers(rows))
        .containsExactlyInAnyOrder(3L, 0L, 10L, Double.doubleToRawLongBits(0.5));
    assertThat(fields().references(rows)).containsExactly("rows");
  }

  @Test
  void onlyNumbersThatDifferAreSet() {
    Rows rows = new Rows();
    List<Long> before = fields().numbers(rows);
    rows.row = 4;
    rows.level = 2;
    List<Long> after = fields().numbers(rows);
    rows.row = 3;
    rows.level = 0.5;

    rows.stop = true;
    fields().setNumbers(rows, before, after);

    assertThat(rows.row).isEqualTo(4);
    assertThat(rows.level).isEqualTo(2);
    assertThat(rows.stop).isTrue();
  }

  @Test
  void fieldsCanBeLeftOut() {
    ObjectFields own =
        new ObjectFields(Rows.class, field -> field.getDeclaringClass() == Rows.class);
    assertThat(own.numbers(new Rows())).hasSize(3);
  }
}
