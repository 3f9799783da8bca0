package io.coordl.peers.hosts;

import io.coordl.items.ItemKey;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Assigns items to members by weighted rendezvous hashing (Thaler and Ravishankar 1998; weights
 * after Schindelhauer and Schomaker 2005). Each member's score is a hash of the item's key and the
 * member's name, scaled by its capacity; the member with the highest score owns the item. So when a
 * member joins or leaves, only its own items move, and shares are proportional to capacities. All
 * hosts compute bit-identical rankings.
 */
final class Ranking {
  private final long[] names;
  private final double[] weights;

  Ranking(List<Member> members) {
    names = new long[members.size()];
    weights = new double[members.size()];
    for (int i = 0; i < names.length; i++) {
      names[i] = ItemKey.of(members.get(i).name(), 0, 0, ItemKey.WHOLE).high();
      weights[i] = (double) Math.max(0, members.get(i).capacity());
    }
  }

  /** Returns the index of the member with the highest score. */
  int first(ItemKey key) {
    int best = 0;
    double highest = score(0, key);
    for (int i = 1; i < names.length; i++) {
      double score = score(i, key);
      if (score > highest) {
        highest = score;
        best = i;
      }
    }
    return best;
  }

  /** Returns the indices of all members, highest score first. */
  int[] order(ItemKey key) {
    double[] scores = new double[names.length];
    for (int i = 0; i < scores.length; i++) {
      scores[i] = score(i, key);
    }
    return IntStream.range(0, scores.length)
        .boxed()
        .sorted(Comparator.comparingDouble(i -> -scores[i]))
        .mapToInt(i -> i)
        .toArray();
  }

  /** Uses StrictMath, which returns the same bits on every host. */
  private double score(int member, ItemKey key) {
    long drawn = mix(mix(key.low() ^ names[member]) + key.high());
    double uniform = ((drawn >>> 11) + 0.5) * 0x1p-53;
    return -weights[member] / StrictMath.log(uniform);
  }

  /** Mixes the bits by Stafford's variant 13 of the MurmurHash3 finalizer. */
  private static long mix(long z) {
    long x = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
    x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
    return x ^ x >>> 31;
  }
}
