package io.coordl.peers.hosts;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.items.ItemKey;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The owner of each item, and the remembered locations of items that are not at their owner. */
class RankingTest {
  private static final InetSocketAddress ANYWHERE =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

  private static Member member(String name, long capacity) {
    return new Member(name, ANYWHERE, capacity);
  }

  private static List<ItemKey> keys(int count) {
    SplittableRandom random = new SplittableRandom(5);
    return IntStream.range(0, count)
        .mapToObj(i -> new ItemKey(random.nextLong(), random.nextLong()))
        .toList();
  }

  @Test
  void membersOwnItemsInProportionToTheirCapacity() {
    Ranking ranking =
        new Ranking(
            List.of(
                member("a", 1 << 30),
                member("b", 3L << 30),
                member("c", 0),
                member("d", 4L << 30)));
    int[] owned = new int[4];
    int count = 80_000;
    keys(count).forEach(key -> owned[ranking.first(key)]++);
    double[] expected = {1 / 8.0, 3 / 8.0, 0, 4 / 8.0};
    for (int i = 0; i < 4; i++) {
      double deviation = Math.sqrt(count * expected[i] * (1 - expected[i]));
      assertThat(owned[i] - count * expected[i]).isBetween(-5 * deviation, 5 * deviation);
    }
  }

  @Test
  void joiningOrLeavingDoesNotReorderTheOthers() {
    List<Member> few = new ArrayList<>();
    for (int i = 0; i < 255; i++) {
      few.add(member("10.0.0." + i + ":7800", 1 << 30));
    }
    List<Member> more = new ArrayList<>(few);
    more.add(member("late", 1 << 30));
    Ranking before = new Ranking(few);
    Ranking after = new Ranking(more);
    int moved = 0;
    for (ItemKey key : keys(2000)) {
      int[] order = after.order(key);
      assertThat(order[0]).isEqualTo(after.first(key));
      assertThat(Arrays.stream(order).filter(i -> i != 255).toArray()).isEqualTo(before.order(key));
      assertThat(after.first(key)).isIn(before.first(key), 255);
      moved += after.first(key) == 255 ? 1 : 0;
    }
    assertThat(moved).isBetween(1, 40);
  }

  @Test
  void theOrderNeverChangesBetweenReleases() {
    Ranking ranking =
        new Ranking(List.of(member("a", 1 << 30), member("b", 2L << 30), member("c", 3L << 30)));
    StringBuilder order = new StringBuilder();
    for (long i = 0; i < 8; i++) {
      Arrays.stream(ranking.order(ItemKey.of("/data/" + i, 1, 2, ItemKey.WHOLE)))
          .forEach(order::append);
      order.append(' ');
    }
    assertThat(order.toString().trim())
        .as(
            "hosts with different releases of the agent must agree; if the order changes, raise the"
                + " version of the wire protocol")
        .isEqualTo("102 021 210 201 210 210 210 201");
  }

  @Test
  void locationsAreRememberedAndOtherItemsAreUnknown() {
    ItemLocations places = new ItemLocations();
    List<ItemKey> keys = keys(20_000);
    assertThat(places.of(keys.get(0))).isEqualTo(ItemLocations.UNKNOWN);
    for (int pass = 0; pass < 3; pass++) {
      for (int i = 0; i < keys.size(); i++) {
        places.put(keys.get(i), i % 3 == 0 ? ItemLocations.NOWHERE : i % 256);
      }
    }
    int known = 0;
    for (int i = 0; i < keys.size(); i++) {
      int place = places.of(keys.get(i));
      assertThat(place).isIn(ItemLocations.UNKNOWN, i % 3 == 0 ? ItemLocations.NOWHERE : i % 256);
      known += place == ItemLocations.UNKNOWN ? 0 : 1;
    }
    assertThat(known).isEqualTo(keys.size());
    keys(30_000)
        .subList(20_000, 30_000)
        .forEach(key -> assertThat(places.of(key)).isEqualTo(ItemLocations.UNKNOWN));
  }
}
