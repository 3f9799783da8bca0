package io.coordl.reports.cluster;

/** Indices into a resource vector: the resources besides GPUs that jobs on a server share. */
final class Resource {
  /** CPU cores. */
  static final int CORES = 0;

  /** Memory in GiB. */
  static final int MEMORY = 1;

  /** Storage rate in MB/s. */
  static final int STORAGE = 2;

  /** Network rate in Gbit/s. */
  static final int NETWORK = 3;

  static final int COUNT = 4;

  private Resource() {}
}
