package io.coordl.pipeline;

/**
 * 64 bits of numbers and of their order: for what is compared for each file of each batch, where
 * writing it as text first costs most. Against accident, not against somebody who looks for two
 * that are equal.
 */
public final class Checksum {
  /** That of no numbers. */
  public static final long NONE = 0x9E3779B97F4A7C15L;

  private Checksum() {}

  /** Of these numbers. */
  public static long of(long... numbers) {
    long checksum = NONE;
    for (long number : numbers) {
      checksum = mix(checksum, number);
    }
    return checksum;
  }

  /** Of the numbers that {@code before} is of, and one more. */
  public static long mix(long before, long number) {
    return before * 5 + spread(before ^ number);
  }

  /** Each bit of the result follows from all bits: the end of MurmurHash3 (Austin Appleby). */
  private static long spread(long number) {
    long spread = (number ^ number >>> 33) * 0xff51afd7ed558ccdL;
    spread = (spread ^ spread >>> 33) * 0xc4ceb9fe1a85ec53L;
    return spread ^ spread >>> 33;
  }
}
