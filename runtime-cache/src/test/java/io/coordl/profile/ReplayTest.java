package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.store.ProfiledItems;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReplayTest {
  @Test
  void theReasonABatchCannotBePreparedIsReported() {
    Batches.Kept broken =
        new Batches.Kept() {
          @Override
          public int samples() {
            return 1;
          }

          @Override
          public Object make() throws IOException {
            throw new IOException("no such array");
          }
        };
    ProfiledItems items = new ProfiledItems(path -> false, line -> {});
    Replay replay = new Replay(Plans.of(items, line -> {}), List.of(broken));
    replay.begin();

    assertThat(replay.get(new BatchGet(null, Collections.emptyIterator(), true, 0)))
        .isEqualTo(Stage.Next.DONE);
    assertThat(replay.reason).contains("no such array");
    assertThat(replay.isTurnOver()).isTrue();
  }
}
