package io.coordl.shared;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineTest {
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
