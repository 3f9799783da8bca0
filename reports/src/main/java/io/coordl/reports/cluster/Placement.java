package io.coordl.reports.cluster;

import java.util.Arrays;

/**
 * The servers that a job runs on and the resources that it holds there: GPUs of one server or
 * several, with the same share of each {@link Resource} for every GPU. Immutable; its arrays are
 * not copied.
 */
final class Placement {
  private final int[] servers;
  private final int[] gpus;
  private final double[] perGpu;

  /**
   * @param servers server numbers, ascending
   * @param gpus GPUs on each of them
   * @param perGpu amount of each {@link Resource} for one GPU
   */
  Placement(int[] servers, int[] gpus, double[] perGpu) {
    this.servers = servers;
    this.gpus = gpus;
    this.perGpu = perGpu;
  }

  /** Returns how many servers the job runs on. */
  int spread() {
    return servers.length;
  }

  /** Returns the number of its {@code i}th server. */
  int server(int i) {
    return servers[i];
  }

  /** Returns the GPUs on its {@code i}th server. */
  int gpus(int i) {
    return gpus[i];
  }

  int gpusOn(int server) {
    for (int i = 0; i < servers.length; i++) {
      if (servers[i] == server) {
        return gpus[i];
      }
    }
    return 0;
  }

  double perGpu(int resource) {
    return perGpu[resource];
  }

  /** Returns the amount of each {@link Resource} for one GPU; callers must not change it. */
  double[] perGpu() {
    return perGpu;
  }

  boolean hasSameGpus(Placement other) {
    return Arrays.equals(servers, other.servers) && Arrays.equals(gpus, other.gpus);
  }

  /** Returns a placement with the same GPUs and another share for each. */
  Placement with(double[] newPerGpu) {
    return new Placement(servers, gpus, newPerGpu);
  }
}
