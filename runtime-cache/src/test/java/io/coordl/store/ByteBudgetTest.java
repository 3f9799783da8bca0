package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteBudgetTest {
  private final List<String> logged = new ArrayList<>();

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "4096, 4096",
    "1k, 1024",
    "512m, 536870912",
    "8G, 8589934592",
    "8GiB, 8589934592",
    "50%, 8589934592",
    "12.5%, 2147483648",
    "auto, 8589934592"
  })
  void sizesAndSharesAreUnderstood(String text, long expected) {
    assertThat(ByteBudget.parse(text).resolve(16L << 30, logged::add)).isEqualTo(expected);
    assertThat(logged).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "g",
        "-1",
        "8x",
        "101%",
        "50 %%",
        "1e9",
        "99999999999t",
        "1234567890123456789"
      })
  void otherTextIsRefusedInOneSentence(String text) {
    assertThatThrownBy(() -> ByteBudget.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"" + text + "\"")
        .hasMessageContaining("8g");
  }

  @Test
  void aBudgetAboveMemoryIsReducedAndLogged() {
    assertThat(ByteBudget.parse("900t").resolve(1 << 30, logged::add)).isEqualTo(1 << 30);
    assertThat(logged).hasSize(1).allMatch(w -> w.contains("900t") && w.contains("1073741824"));
    assertThat(ByteBudget.parse("900t").resolve(-5, logged::add)).isZero();
  }

  @Test
  void autoMayMeanAnotherShare() {
    assertThat(ByteBudget.parse("auto", 0.125).resolve(800, logged::add)).isEqualTo(100);
    assertThat(ByteBudget.parse("50%", 0.125).resolve(800, logged::add)).isEqualTo(400);
  }
}
