package io.coordl.reports.whatif;

import org.jspecify.annotations.Nullable;

/**
 * A job as it would run.
 *
 * @param hit part of the items answered from this host's memory; null: as today
 * @param remote part of the items answered by another host's memory
 * @param remoteNanos what a sample of those takes a thread
 * @param networkNanos what it takes the network to this host
 * @param workers threads that fetch and prepare beside the training thread, 0 if it does so itself
 * @param cores that the jobs of the host share
 * @param stepFactor how many times faster than measured a step is
 * @param storageFactor how many times faster than measured the storage is
 * @param jobs of the host, all alike
 * @param coordinated true if they prepare each batch once between them
 * @param hosts that share the storage
 * @param decoded part of the items that is decoded already
 */
record Setup(
    @Nullable Double hit,
    double remote,
    double remoteNanos,
    double networkNanos,
    double workers,
    double cores,
    double stepFactor,
    double storageFactor,
    int jobs,
    boolean coordinated,
    double hosts,
    double decoded) {

  /** Today's. */
  static Setup of(double workers, double cores) {
    return new Setup(null, 0, 0, 0, workers, cores, 1, 1, 1, false, 1, 0);
  }

  Setup hit(double of) {
    return new Setup(
        of,
        remote,
        remoteNanos,
        networkNanos,
        workers,
        cores,
        stepFactor,
        storageFactor,
        jobs,
        coordinated,
        hosts,
        decoded);
  }

  Setup remote(double of, double threadNanos, double onNetworkNanos) {
    return new Setup(
        hit,
        of,
        threadNanos,
        onNetworkNanos,
        workers,
        cores,
        stepFactor,
        storageFactor,
        jobs,
        coordinated,
        hosts,
        decoded);
  }

  Setup workers(double of) {
    return new Setup(
        hit,
        remote,
        remoteNanos,
        networkNanos,
        of,
        cores,
        stepFactor,
        storageFactor,
        jobs,
        coordinated,
        hosts,
        decoded);
  }

  Setup cores(double of) {
    return new Setup(
        hit,
        remote,
        remoteNanos,
        networkNanos,
        workers,
        of,
        stepFactor,
        storageFactor,
        jobs,
        coordinated,
        hosts,
        decoded);
  }

  Setup step(double factor) {
    return new Setup(
        hit,
        remote,
        remoteNanos,
        networkNanos,
        workers,
        cores,
        factor,
        storageFactor,
        jobs,
        coordinated,
        hosts,
        decoded);
  }

  Setup storage(double factor) {
    return new Setup(
        hit,
        remote,
        remoteNanos,
        networkNanos,
        workers,
        cores,
        stepFactor,
        factor,
        jobs,
        coordinated,
        hosts,
        decoded);
  }

  Setup jobs(int of, boolean together) {
    return new Setup(
        hit,
        remote,
        remoteNanos,
        networkNanos,
        workers,
        cores,
        stepFactor,
        storageFactor,
        of,
        together,
        hosts,
        decoded);
  }

  Setup decoded(double of) {
    return new Setup(
        hit,
        remote,
        remoteNanos,
        networkNanos,
        workers,
        cores,
        stepFactor,
        storageFactor,
        jobs,
        coordinated,
        hosts,
        of);
  }

  Setup hosts(double sharing) {
    return new Setup(
        hit,
        remote,
        remoteNanos,
        networkNanos,
        workers,
        cores,
        stepFactor,
        storageFactor,
        jobs,
        coordinated,
        sharing,
        decoded);
  }
}
