package io.coordl.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteBudgetTest {
  private final List<String> words = new ArrayList<>();

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
    assertThat(ByteBudget.parse(text).resolve(16L << 30, words::add)).isEqualTo(expected);
    assertThat(words).isEmpty();
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
  void anythingElseIsRefusedWithASentence(String text) {
    assertThatThrownBy(() -> ByteBudget.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"" + text + "\"")
        .hasMessageContaining("8g");
  }

  @Test
  void moreThanMemoryIsReducedWithASentence() {
    assertThat(ByteBudget.parse("900t").resolve(1 << 30, words::add)).isEqualTo(1 << 30);
    assertThat(words).hasSize(1).allMatch(w -> w.contains("900t") && w.contains("1073741824"));
    assertThat(ByteBudget.parse("900t").resolve(-5, words::add)).isZero();
  }

  @Test
  void theTightestGroupOfVersion2Counts(@TempDir Path mount) throws IOException {
    Path membership = Files.writeString(mount.resolve("self"), "0::/a/b\n");
    group(mount.resolve("a/b"), "memory.max", "max", "memory.current", "700", "");
    group(mount.resolve("a"), "memory.max", "1000", "memory.current", "700", "inactive_file 200\n");
    assertThat(Machine.groupFree(membership, mount)).isEqualTo(500);
  }

  @Test
  void theTightestGroupOfVersion1Counts(@TempDir Path mount) throws IOException {
    Path membership = Files.writeString(mount.resolve("self"), "4:cpu:/\n3:memory:/docker/x\n");
    String limit = "memory.limit_in_bytes";
    String usage = "memory.usage_in_bytes";
    group(mount.resolve("memory/docker/x"), limit, "5000", usage, "700", "");
    group(mount.resolve("memory"), limit, "1000", usage, "900", "total_inactive_file 1\n");
    assertThat(Machine.groupFree(membership, mount)).isEqualTo(101);
  }

  @Test
  void noControlGroupIsNoLimit(@TempDir Path mount) {
    assertThat(Machine.groupFree(mount.resolve("none"), mount)).isEqualTo(Long.MAX_VALUE);
    assertThat(Machine.memAvailable(mount.resolve("none"))).isEqualTo(Long.MAX_VALUE);
    assertThat(Machine.freeMemory()).isPositive().isLessThan(Long.MAX_VALUE);
  }

  private static void group(
      Path at, String limitName, String limit, String usageName, String usage, String stat)
      throws IOException {
    Files.createDirectories(at);
    Files.writeString(at.resolve(limitName), limit + "\n");
    Files.writeString(at.resolve(usageName), usage + "\n");
    Files.writeString(at.resolve("memory.stat"), stat);
  }
}
