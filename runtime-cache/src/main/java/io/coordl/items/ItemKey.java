package io.coordl.items;

/**
 * Key of an item: a 128-bit hash of its identity (device and inode, or see {@link ItemNames}),
 * size, modification time and, for a block of a large file, the block number. If any of these
 * differs, so do the keys: with 14 million items the chance of any collision is below 1e-24.
 *
 * <p>The hash is MurmurHash3 x64 128 (public domain, Austin Appleby) over UTF-16 code units: it
 * spreads well, processes 4 characters at a time, and starts no security provider on a program
 * thread. It guards against accidents, not against attackers, who could write into the data set
 * anyway.
 */
public record ItemKey(long high, long low) {
  private static final long C1 = 0x87c37b91114253d5L;
  private static final long C2 = 0x4cf5ad432745937fL;

  /** Block number of an item that is a whole file. */
  public static final long WHOLE = -1;

  /** Returns the key of a block of a file; with {@link #WHOLE}, of the whole file. */
  public static ItemKey of(String name, long size, long modifiedNanos, long block) {
    long h1 = 0;
    long h2 = 0;
    int length = name.length();
    int at = 0;
    for (; at + 8 <= length; at += 8) {
      h1 = mixFirst(h1, h2, word(name, at, 4));
      h2 = mixSecond(h1, h2, word(name, at + 4, 4));
    }
    int rest = length - at;
    h1 = mixFirst(h1, h2, word(name, at, Math.min(4, rest)));
    h2 = mixSecond(h1, h2, word(name, at + 4, Math.max(0, rest - 4)));
    h1 = mixFirst(h1, h2, size);
    h2 = mixSecond(h1, h2, modifiedNanos);
    h1 = mixFirst(h1, h2, block);
    h2 = mixSecond(h1, h2, length);
    return finished(h1 ^ length, h2 ^ length);
  }

  /** Returns this key extended by two more numbers. */
  public ItemKey with(long first, long second) {
    long h1 = mixFirst(high, low, first);
    return finished(h1, mixSecond(h1, low, second));
  }

  private static long word(String text, int from, int count) {
    long word = 0;
    for (int i = 0; i < count; i++) {
      word |= (long) text.charAt(from + i) << (16 * i);
    }
    return word;
  }

  private static long mixFirst(long h1, long h2, long k1) {
    long mixed = h1 ^ Long.rotateLeft(k1 * C1, 31) * C2;
    return (Long.rotateLeft(mixed, 27) + h2) * 5 + 0x52dce729;
  }

  private static long mixSecond(long h1, long h2, long k2) {
    long mixed = h2 ^ Long.rotateLeft(k2 * C2, 33) * C1;
    return (Long.rotateLeft(mixed, 31) + h1) * 5 + 0x38495ab5;
  }

  private static ItemKey finished(long h1, long h2) {
    long first = avalanche(h1 + h2);
    long second = avalanche(h1 + h2 + h2);
    return new ItemKey(first + second, first + second + second);
  }

  private static long avalanche(long k) {
    long x = (k ^ k >>> 33) * 0xff51afd7ed558ccdL;
    x = (x ^ x >>> 33) * 0xc4ceb9fe1a85ec53L;
    return x ^ x >>> 33;
  }
}
