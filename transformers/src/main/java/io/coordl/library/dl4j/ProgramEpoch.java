package io.coordl.library.dl4j;

import io.coordl.coordination.BatchOrder;
import java.util.List;
import java.util.Map;

/**
 * An epoch that an iterator of the program is about to begin.
 *
 * @param readers readers of the iterator, by name
 * @param orders order of the records of each reader
 * @param batchSize number of records that each batch except the last takes from each reader
 */
record ProgramEpoch(
    ProgramIterator program,
    Map<String, SeekableReader> readers,
    List<int[]> orders,
    int batchSize) {
  int batches() {
    return BatchOrder.batches(orders.get(0).length, batchSize);
  }

  /** Returns the class name of its first reader, for the user. */
  String name() {
    return readers.values().iterator().next().reader().getClass().getName();
  }
}
