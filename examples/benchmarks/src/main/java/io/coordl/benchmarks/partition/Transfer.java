package io.coordl.benchmarks.partition;

/** A way of getting items of another process. One object serves several threads. */
interface Transfer extends AutoCloseable {
  /**
   * Gets an item, all of it, into memory of this process.
   *
   * @return its first and its last byte, as {@link Items#ends} says
   */
  int get(int item) throws Exception;

  @Override
  void close();
}
