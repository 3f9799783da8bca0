package io.coordl.reports.cluster;

/** Indices into a resource vector: the resources besides GPUs that jobs on a server share. */
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
