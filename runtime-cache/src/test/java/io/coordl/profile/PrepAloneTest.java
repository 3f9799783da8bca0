package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import io.coordl.store.ByteBudget;
import io.coordl.store.ProfiledItems;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrepAloneTest {
  @Test
  void itemsComeFromMemoryWhicheverPhaseRanLast(@TempDir Path directory) throws IOException {
    String file = Files.write(directory.resolve("item"), new byte[1000]).toString();
    try (ProfiledItems items = new ProfiledItems(path -> true, line -> {})) {
      items.openStore(ByteBudget.parse("2m"));
      Plan plan = Plans.of(items, line -> {});
      new OwnSteps(Plan.CACHED, plan).resume();
      open(items, file);
      new OwnSteps(Plan.COLD, plan).resume();
      assertThat(open(items, file)).isEqualTo(Origin.STORAGE);

      new PrepAlone(plan, 0).begin();

      assertThat(open(items, file)).isEqualTo(Origin.MEMORY);
    }
  }

  private static Origin open(ProfiledItems items, String file) {
    OpenItem item = items.open(file);
    item.close();
    return item.origin();
  }
}
