package io.coordl.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.host.JobLiveness;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CachedJobLivenessTest {
  private final Set<Long> living = new HashSet<>(Set.of(1L, 2L, 33L));
  private final List<Long> checked = new ArrayList<>();
  private long now;

  private final JobLiveness liveness =
      new CachedJobLiveness(
          new JobLiveness() {
            @Override
            public boolean alive(long job) {
              checked.add(job);
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
  void aLiveJobIsCheckedAgainOnlyAfterAnInterval() {
    for (int i = 0; i < 100; i++) {
      assertThat(liveness.alive(2)).isTrue();
    }
    assertThat(checked).containsExactly(2L);
    living.remove(2L);
    assertThat(liveness.alive(2)).isTrue();
    now += CachedJobLiveness.NANOS + 1;
    assertThat(liveness.alive(2)).isFalse();
    assertThat(checked).containsExactly(2L, 2L);
  }

  @Test
  void aDeadJobIsNotCheckedAgain() {
    for (int i = 0; i < 100; i++) {
      assertThat(liveness.alive(7)).isFalse();
      now += CachedJobLiveness.NANOS + 1;
    }
    assertThat(checked).containsExactly(7L);
  }

  @Test
  void jobsInTheSameCacheEntryAreNotConfused() {
    assertThat(liveness.alive(1)).isTrue();
    assertThat(liveness.alive(33)).isTrue(); // Same cache entry.
    assertThat(liveness.alive(65)).isFalse();
    assertThat(liveness.alive(1)).isTrue();
  }

  @Test
  void exclusiveActionsRunAndALiveJobStaysCachedForTheInterval() {
    liveness.alone(() -> living.add(9L));
    assertThat(liveness.alive(9)).isTrue();
    now += CachedJobLiveness.NANOS;
    living.remove(9L);
    assertThat(liveness.alive(9)).as("still cached").isTrue();
  }
}
