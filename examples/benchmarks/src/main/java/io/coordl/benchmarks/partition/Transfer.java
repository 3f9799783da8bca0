package io.coordl.benchmarks.partition;

/** A transport for items of another process. Thread-safe. */
interface Transfer extends AutoCloseable {
  /**
   * Gets a whole item into this process's memory.
   *
   * @return its first and last byte, as from {@link Items#ends}
   */
  int get(int item) throws Exception;

  @Override
  void close();
}
