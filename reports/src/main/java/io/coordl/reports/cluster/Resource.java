package io.coordl.reports.cluster;

/** Where in a vector of resources each one stands that a server shares out beside its GPUs. */
final class Resource {
  /** CPU cores. */
  static final int CORES = 0;

  /** GiB. */
  static final int MEMORY = 1;

  /** MB/s. */
  static final int STORAGE = 2;

  /** Gbit/s. */
  static final int NETWORK = 3;

  static final int COUNT = 4;

  private Resource() {}
}
