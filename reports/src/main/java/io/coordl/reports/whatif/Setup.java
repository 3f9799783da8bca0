package io.coordl.reports.whatif;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A job as it would run. Each method returns a copy that differs in what the method names. */
final class Setup implements Cloneable {
  @Nullable Double hit; // share of the items answered from this host's memory; null: as today
  double remote; // share of the items answered from another host's memory
  double remoteNanos; // time that a thread spends on a sample from another host
  double networkNanos; // time that the network needs to deliver such a sample
  double workers; // threads that prepare beside the training thread, 0 if it does so itself
  double cores; // cores that the jobs of this host share
  double cpu; // measured CPU time of a sample; 0: computed from steps and preparation
  double batch; // samples per batch; 0 if unknown
  double stepFactor = 1; // speed of a step, relative to the measured speed
  double work = 1; // measured time of steps and preparation, divided by the predicted time
  double storageFactor = 1; // speed of the storage, relative to the measured speed
  int jobs = 1; // number of jobs on this host, all alike
  boolean coordinated; // whether the jobs prepare each batch only once between them
  double hosts = 1; // number of hosts that share the storage
  double decoded; // share of the items that are already decoded
  double prepared; // share of the samples that are already prepared

  private Setup() {}

  static Setup of(double workers, double cores) {
    return new Setup().workers(workers).cores(cores);
  }

  private Setup with(Consumer<Setup> change) {
    try {
      Setup copy = (Setup) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  Setup hit(double share) {
    return with(copy -> copy.hit = share);
  }

  Setup remote(double share, double threadNanos, double onNetworkNanos) {
    return with(
        copy -> {
          copy.remote = share;
          copy.remoteNanos = threadNanos;
          copy.networkNanos = onNetworkNanos;
        });
  }

  Setup workers(double threads) {
    return with(copy -> copy.workers = threads);
  }

  Setup cores(double count) {
    return with(copy -> copy.cores = count);
  }

  Setup cpu(double nanos) {
    return with(copy -> copy.cpu = nanos);
  }

  Setup batch(double samples) {
    return with(copy -> copy.batch = samples);
  }

  Setup step(double factor) {
    return with(copy -> copy.stepFactor = factor);
  }

  Setup work(double factor) {
    return with(copy -> copy.work = factor);
  }

  Setup storage(double factor) {
    return with(copy -> copy.storageFactor = factor);
  }

  Setup jobs(int count, boolean coordinatedPrep) {
    return with(
        copy -> {
          copy.jobs = count;
          copy.coordinated = coordinatedPrep;
        });
  }

  Setup hosts(double count) {
    return with(copy -> copy.hosts = count);
  }

  Setup decoded(double share) {
    return with(copy -> copy.decoded = share);
  }

  Setup prepared(double share) {
    return with(copy -> copy.prepared = share);
  }
}
