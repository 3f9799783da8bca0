package io.coordl.reports.whatif;

/**
 * What one sample costs each part of the host, in nanoseconds.
 *
 * @param compute the training step, on the training thread or waited for by it
 * @param computeCores cores that a step keeps busy, 0 if it runs elsewhere
 * @param prepSerial preparation from memory that does not become shorter with more threads
 * @param prepParallel preparation from memory on one thread, shared by as many as there are
 * @param miss what fetching from storage takes a thread more than fetching from memory
 * @param storage of the storage at its highest rate, however many threads read
 * @param memory of the memory that answers a hit
 * @param decode the part of {@code prepParallel} that decodes
 * @param todayHit part of the items that is answered from memory today, 0 to 1
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
    double todayHit) {
  /** Where errors allow a time to be none at all, quotients of such times still are figures. */
  static final double LEAST_NANOS = 1;

  /**
   * From the components of a {@link Pipeline}: compute, its cores, prep, its serial share, miss,
   * storage, memory, decode, hits. What errors made impossible is brought back into its bounds.
   */
  static Costs of(double... of) {
    double prep = Math.max(0, of[2]);
    double serial = prep * Math.max(0, Math.min(of[3], 1));
    double parallel = prep - serial;
    return new Costs(
        Math.max(0, of[0]),
        Math.max(0, of[1]),
        serial,
        parallel,
        Math.max(0, of[4]),
        Math.max(0, of[5]),
        Math.max(0, of[6]),
        Math.max(0, Math.min(of[7], parallel)),
        Math.max(0, Math.min(of[8], 1)));
  }

  double prep() {
    return prepSerial + prepParallel;
  }

  /**
   * How long a sample takes in the long run: as long as the busiest part of the host needs for it.
   *
   * <p>A pipeline without workers does everything on one thread, and there the times add. With
   * workers, each fetches and prepares batches one after the other while the training thread
   * computes: then the longest of these counts, computing a sample, what a worker's time for one
   * comes to when all of them work, what the cores, the storage and the memory need for the samples
   * of all jobs. Bounded queues and batches of many samples make times that vary count with their
   * means. With as many workers as cores and cores that are free for them, this is the paper's 1 /
   * min(F, P, G) with 1 / F = x / C + (1 - x) / S.
   */
  double nanos(Setup setup) {
    double hit = setup.hit == null ? todayHit : setup.hit;
    double remote = Math.min(setup.remote, 1 - hit);
    double missed = 1 - hit - remote;
    double step = compute / setup.stepFactor;
    double rest = 1 - setup.prepared;
    double serial = rest * prepSerial;
    double parallel = rest * (prepParallel - setup.decoded * decode);
    double fetch = missed * miss / setup.storageFactor + remote * setup.remoteNanos;
    double worker = parallel + fetch;
    // Of a sample that several jobs use, each job pays its part.
    double part = setup.coordinated ? 1.0 / setup.jobs : 1;

    double cores = setup.jobs * (step * computeCores + part * (serial + parallel)) / setup.cores;
    double transfer =
        setup.hosts * missed * storage / setup.storageFactor
            + remote * setup.networkNanos
            + hit * memory;
    double shared = Math.max(cores, setup.jobs * part * transfer);

    // With fewer cores than it keeps busy a step is longer; less than a core slows all else, too.
    double crowded = step * Math.max(1, computeCores / setup.cores);
    double slowed = Math.max(1, 1 / setup.cores);
    double own =
        setup.workers == 0 && !setup.coordinated
            ? crowded + slowed * (serial + parallel) + fetch
            : Math.max(step, part * (serial + worker / Math.max(1, setup.workers)));
    return Math.max(LEAST_NANOS, Math.max(own, shared));
  }
}
