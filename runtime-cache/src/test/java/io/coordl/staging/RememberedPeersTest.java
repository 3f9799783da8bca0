package io.coordl.staging;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RememberedPeersTest {
  private final Set<Long> living = new HashSet<>(Set.of(1L, 2L, 33L));
  private final List<Long> asked = new ArrayList<>();
  private long now;

  private final Peers peers =
      new RememberedPeers(
          new Peers() {
            @Override
            public boolean alive(long job) {
              asked.add(job);
              return living.contains(job);
            }

            @Override
            public void alone(Runnable action) {
              action.run();
            }
          },
          new Clock() {
            @Override
            public long nanos() {
              return now;
            }

            @Override
            public void pause(long nanos) {
              now += nanos;
            }
          });

  @Test
  void whoLivesIsAskedForAgainOnlyAfterAWhile() {
    for (int i = 0; i < 100; i++) {
      assertThat(peers.alive(2)).isTrue();
    }
    assertThat(asked).containsExactly(2L);
    living.remove(2L);
    assertThat(peers.alive(2)).isTrue();
    now += RememberedPeers.NANOS + 1;
    assertThat(peers.alive(2)).isFalse();
    assertThat(asked).containsExactly(2L, 2L);
  }

  @Test
  void whoIsDeadStaysDead() {
    for (int i = 0; i < 100; i++) {
      assertThat(peers.alive(7)).isFalse();
      now += RememberedPeers.NANOS + 1;
    }
    assertThat(asked).containsExactly(7L);
  }

  @Test
  void jobsAreNotTakenForEachOther() {
    assertThat(peers.alive(1)).isTrue();
    assertThat(peers.alive(33)).isTrue(); // Kept in the same place.
    assertThat(peers.alive(65)).isFalse();
    assertThat(peers.alive(1)).isTrue();
  }

  @Test
  void whatIsDoneAloneIsDone() {
    peers.alone(() -> living.add(9L));
    assertThat(peers.alive(9)).isTrue();
    now += RememberedPeers.NANOS;
    living.remove(9L);
    assertThat(peers.alive(9)).as("for so long it is not asked again").isTrue();
  }
}
