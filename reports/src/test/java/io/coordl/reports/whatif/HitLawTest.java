package io.coordl.reports.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class HitLawTest {
  private static final int ITEMS = 20_000;

  /**
   * Misses in an independent simulation. The CoorDL paper (VLDB'21) measured 85 % where 35 % of the
   * data set fit, and 53 % where 65 % fit.
   */
  @ParameterizedTest
  @CsvSource({"25,75,93,97", "35,65,86,93", "50,50,72,85", "65,35,54,72", "80,20,32,52"})
  void missesMatchASimulation(int size, int minio, int random, int lru) {
    assertThat(100 * (1 - HitLaw.MINIO.hit(size / 100.0))).isCloseTo(minio, within(0.6));
    assertThat(100 * (1 - HitLaw.RANDOM.hit(size / 100.0))).isCloseTo(random, within(0.6));
    assertThat(100 * (1 - HitLaw.LRU.hit(size / 100.0))).isCloseTo(lru, within(0.6));
  }

  /** Measured on a page cache limited by a control group, in the first epoch after it filled. */
  @ParameterizedTest
  @CsvSource({"40.5,8.9", "55.5,19.0", "70.5,34.6"})
  void aLimitedPageCacheFollowsTheLruLaw(double size, double hits) {
    assertThat(100 * HitLaw.LRU.hit(size / 100)).isCloseTo(hits, within(1.0));
  }

  @ParameterizedTest
  @EnumSource
  void hitsRiseFromNoneToAll(HitLaw law) {
    assertThat(law.hit(0)).isZero();
    assertThat(law.hit(1)).isEqualTo(1);
    double last = 0;
    for (double size = 0.01; size < 1; size += 0.01) {
      assertThat(law.hit(size)).isGreaterThan(last).isLessThanOrEqualTo(size + 1e-9);
      last = law.hit(size);
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.2, 0.5, 0.8})
  void anLruCacheFollowsItsLaw(double size) {
    Set<Integer> cache = new LinkedHashSet<>();
    double hits =
        hitRatio(
            item -> {
              boolean hit = cache.remove(item);
              if (!hit && cache.size() == (int) (size * ITEMS)) {
                cache.remove(cache.iterator().next());
              }
              cache.add(item);
              return hit;
            });
    assertThat(hits).isCloseTo(HitLaw.LRU.hit(size), within(0.01));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.2, 0.5, 0.8})
  void randomReplacementFollowsItsLaw(double size) {
    Random random = new Random(7);
    int[] placeOf = IntStream.generate(() -> -1).limit(ITEMS).toArray();
    List<Integer> cache = new ArrayList<>();
    double hits =
        hitRatio(
            item -> {
              if (placeOf[item] >= 0) {
                return true;
              }
              if (cache.size() < (int) (size * ITEMS)) {
                placeOf[item] = cache.size();
                cache.add(item);
                return false;
              }
              int place = random.nextInt(cache.size());
              placeOf[cache.set(place, item)] = -1;
              placeOf[item] = place;
              return false;
            });
    assertThat(hits).isCloseTo(HitLaw.RANDOM.hit(size), within(0.01));
  }

  private interface Cache {
    boolean request(Integer item);
  }

  /** Returns the share of hits after six epochs of warm-up. */
  private static double hitRatio(Cache cache) {
    List<Integer> items = new ArrayList<>(IntStream.range(0, ITEMS).boxed().toList());
    Random random = new Random(1);
    int epochs = 12;
    int warm = 6;
    long hits = 0;
    for (int epoch = 0; epoch < epochs; epoch++) {
      Collections.shuffle(items, random);
      for (Integer item : items) {
        if (cache.request(item) && epoch >= warm) {
          hits++;
        }
      }
    }
    return (double) hits / (epochs - warm) / ITEMS;
  }

  @Test
  void minioHitsTheItemsItHolds() {
    Set<Integer> cache = new LinkedHashSet<>();
    double hits =
        hitRatio(
            item -> {
              boolean hit = cache.contains(item);
              if (!hit && cache.size() < ITEMS / 4) {
                cache.add(item);
              }
              return hit;
            });
    assertThat(hits).isEqualTo(HitLaw.MINIO.hit(0.25));
  }
}
