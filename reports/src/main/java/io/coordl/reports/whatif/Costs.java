package io.coordl.reports.whatif;

/**
 * The costs of one sample on each part of the host. Times are in nanoseconds.
 *
 * @param compute the training step, which the training thread runs or waits for
 * @param computeCores number of cores that a step keeps busy, 0 if it runs elsewhere
 * @param prepSerial preparation from memory that more threads do not shorten
 * @param prepParallel the other part of preparation from memory, as time of one thread; more
 *     threads divide it among themselves
 * @param miss extra time of a thread to fetch from storage instead of from memory
 * @param storage time that storage needs at its maximum throughput, regardless of the number of
 *     reading threads
 * @param memory time that memory needs to answer a hit
 * @param decode the part of {@code prepParallel} that decodes
 * @param todayHit share of the items answered from memory today, 0 to 1
 * @param taken share of the preparation time, 0 to 1, by which concurrent preparation lengthens the
 *     step, because cores are scarce for part of the time
 */
record Costs(
    double compute,
    double computeCores,
    double prepSerial,
    double prepParallel,
    double miss,
    double storage,
    double memory,
    double decode,
    double todayHit,
    double taken) {
  /** Lower bound of a time: measurement errors may yield 0, and quotients must stay finite. */
  static final double MIN_NANOS = 1;

  /** The default period of a CPU quota, in the kernel and in Kubernetes. */
  private static final double QUOTA_NANOS = 1e8;

  /**
   * Creates the costs from the components of a {@link Pipeline}: compute, its cores, prep, its
   * serial share, miss, storage, memory, decode, hits, and optionally the share of prep time taken
   * from the steps. Values that errors pushed out of their bounds are clamped.
   */
  static Costs of(double... components) {
    double prep = Math.max(0, components[2]);
    double serial = prep * Math.max(0, Math.min(components[3], 1));
    double parallel = prep - serial;
    return new Costs(
        Math.max(0, components[0]),
        Math.max(0, components[1]),
        serial,
        parallel,
        Math.max(0, components[4]),
        Math.max(0, components[5]),
        Math.max(0, components[6]),
        Math.max(0, Math.min(components[7], parallel)),
        Math.max(0, Math.min(components[8], 1)),
        components.length > 9 ? Math.max(0, Math.min(components[9], 1)) : 0);
  }

  double prep() {
    return prepSerial + prepParallel;
  }

  /**
   * Returns the time of a sample in the long run: the time that the busiest part of the host needs
   * for it.
   *
   * <p>Without workers, one thread does everything, and the times add. With workers, each fetches
   * and prepares one batch after the other while the training thread computes. Then the longest of
   * these times counts: the step; the serial part of preparation plus a worker's other time divided
   * by the number of workers; the time that the cores need for the samples of all jobs; the time
   * that storage, network and memory need for them. Queues are bounded and batches have many
   * samples, so only the means of varying times matter. With as many workers as free cores, this is
   * DS-Analyzer's model: the job runs at the lowest of the rates of fetching, preparation and
   * compute. If cores are short for only part of the time, preparation lengthens the steps beside
   * it by a measured share ({@code taken}) of its own time.
   */
  double nanos(Setup setup) {
    double hit = setup.hit == null ? todayHit : setup.hit;
    double remote = Math.min(setup.remote, 1 - hit);
    double missed = 1 - hit - remote;
    double step = setup.work * compute / setup.stepFactor;
    double rest = setup.work * (1 - setup.prepared);
    double serial = rest * prepSerial;
    double parallel = rest * (prepParallel - setup.decoded * decode);
    double fetch = missed * miss / setup.storageFactor + remote * setup.remoteNanos;
    double worker = parallel + fetch;
    // If several jobs share the preparation of a sample, each pays its part.
    double part = setup.coordinated ? 1.0 / setup.jobs : 1;

    double busy = setup.cpu > 0 ? setup.cpu : step * computeCores + part * (serial + parallel);
    double cores = setup.jobs * busy / setup.cores;
    double transfer =
        setup.hosts * missed * storage / setup.storageFactor
            + remote * setup.networkNanos
            + hit * memory;
    double shared = Math.max(cores, setup.jobs * part * transfer);

    double own =
        setup.workers == 0 && !setup.coordinated
            ? alone(setup, step, serial + parallel, fetch)
            : Math.max(
                step + part * taken * (serial + parallel),
                part * (serial + worker / Math.max(1, setup.workers)));
    return Math.max(MIN_NANOS, Math.max(own, shared));
  }

  /**
   * Returns the time of a sample if one thread does everything. A step takes longer if it has fewer
   * cores than it can keep busy. A value below one core means a CPU quota: a thread that has run
   * for its part of a period waits for the next period. A batch whose CPU time fits into the
   * thread's part of one period does not wait, so waits and steps elsewhere hide some of the
   * throttling.
   */
  private double alone(Setup setup, double step, double prep, double fetch) {
    if (setup.cores >= 1) {
      return step * Math.max(1, computeCores / setup.cores) + prep + fetch;
    }
    double busy = step * computeCores + prep;
    double idle = step * Math.max(0, 1 - computeCores) + fetch;
    double free = setup.batch > 0 ? (1 - setup.cores) * QUOTA_NANOS / setup.batch : 0;
    double throttled = busy / setup.cores;
    return Math.max(Math.max(busy + idle, throttled), idle + throttled - free);
  }
}
