package io.coordl.coordination;

import java.util.Arrays;
import java.util.List;

/**
 * The items of each batch of an epoch, in sampler order. Items are indices into the data set;
 * batches are numbered from 0. Immutable.
 */
public final class BatchOrder {
  final int[] items;
  final int[] ends;

  /**
   * Creates an order.
   *
   * @param items the items of all batches, concatenated; not copied, so the caller must not change
   *     them
   * @param ends exclusive end of each batch in {@code items}, ascending; the last one is the length
   *     of {@code items}
   */
  public BatchOrder(int[] items, int[] ends) {
    if (ends.length == 0 ? items.length != 0 : ends[ends.length - 1] != items.length) {
      throw new IllegalArgumentException("the last batch does not end with the last item");
    }
    this.items = items;
    this.ends = ends;
  }

  /** Returns the number of batches of {@code size} items; the last one may be smaller. */
  public static int batches(int items, int size) {
    return (int) ((items + (long) size - 1) / size);
  }

  /** Splits the items into batches of {@code size}; the last one may be smaller. */
  public static BatchOrder evenly(int[] items, int size) {
    int[] ends = new int[batches(items.length, size)];
    for (int i = 0; i < ends.length; i++) {
      ends[i] = (int) Math.min((i + 1L) * size, items.length);
    }
    return new BatchOrder(items, ends);
  }

  public static BatchOrder of(List<int[]> batches) {
    int[] ends = new int[batches.size()];
    int end = 0;
    for (int i = 0; i < ends.length; i++) {
      end = Math.addExact(end, batches.get(i).length);
      ends[i] = end;
    }
    return new BatchOrder(batches.stream().flatMapToInt(Arrays::stream).toArray(), ends);
  }

  public int batches() {
    return ends.length;
  }

  public int[] items(int batch) {
    return Arrays.copyOfRange(items, batch == 0 ? 0 : ends[batch - 1], ends[batch]);
  }

  /** Returns the number of items in the batches up to and including this one. */
  public int end(int batch) {
    return ends[batch];
  }
}
