package io.coordl.reports.whatif;

import io.coordl.reports.differential.Missing;
import io.coordl.telemetry.advice.Text;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The mutual dependence of identical hosts: the share of the data set that each caches, and the
 * cost of a sample from another host.
 *
 * @param pipeline pipeline of one host
 * @param today the job as it is now, with the storage of the scenario
 * @param hosts number of hosts in the scenario
 * @param share share of the data set that fits in one host's memory, 0 to 1
 * @param threadNanos time that a thread spends on a sample from another host
 * @param networkNanos time that the network needs to deliver such a sample to a host
 * @param assumptions assumptions in addition to those of the pipeline
 */
record Coupling(
    Pipeline pipeline,
    Setup today,
    int hosts,
    double share,
    double threadNanos,
    double networkNanos,
    List<String> assumptions) {
  /** Bytes a second: 10 Gbit/s, the slowest network that the CoorDL paper (VLDB'21) considers. */
  static final double DEFAULT_NETWORK_BYTES_PER_SECOND = 1.25e9;

  static final double[] COUNTS = {1, 2, 4, 8, 16, 32, 64, 128, 256};

  /** Shares of one host's items by origin, each from 0 to 1; the rest comes from storage. */
  record Origins(double local, double remote) {
    double storage() {
      return Math.max(0, 1 - local - remote);
    }
  }

  static List<Missing> missing(Pipeline measured, Scenario scenario) {
    List<Missing> missing =
        withScenarioStorage(measured, scenario)
            .missing(
                "computeNanos", "prepNanos", "missNanos", "storageRate", "sampleBytes", "todayHit");
    return missing.isEmpty() && share(measured, scenario) == null
        ? List.of(
            new Missing(
                "cacheShare",
                "the recording does not show how much the hosts may cache: pass it with --cache,"
                    + " such as --cache 20g."))
        : missing;
  }

  /** Creates the coupling; {@link #missing} must be empty. */
  static Coupling of(Pipeline measured, Scenario scenario) {
    Pipeline pipeline = withScenarioStorage(measured, scenario);
    Double share = share(measured, scenario);
    List<String> assumptions = new ArrayList<>();
    assumptions.add(
        "the hosts are identical and share one storage system, with the rate given or measured"
            + " here");
    assumptions.add("exchanging gradients costs no more than it does today");
    Pipeline.Peers peers = pipeline.peers;
    Double requested = scenario.networkRate();
    double network =
        requested == null
            ? Math.max(DEFAULT_NETWORK_BYTES_PER_SECOND, peers == null ? 0 : peers.rate())
            : requested;
    if (requested == null) {
      assumptions.add(
          Text.format(
              "the network gives each host %s/s (%s): --network overrides this",
              Question.bytes(network),
              network > DEFAULT_NETWORK_BYTES_PER_SECOND
                  ? "the measured rate of one thread"
                  : "10 Gbit/s by default"));
    }
    double networkTime = pipeline.sampleBytes / network * 1e9;
    double threadTime = peers == null ? 0 : pipeline.sampleBytes / peers.rate() * 1e9;
    assumptions.add(
        peers == null
            ? "a thread spends no more time on a sample from another host than the network does"
            : Text.format(
                "a thread gets %s/s from another host, as it did in this recording",
                Question.bytes(peers.rate())));
    Setup today = pipeline.today();
    if (scenario.storageRate() != null && pipeline.storageRate != null) {
      today = today.storage(scenario.storageRate() / pipeline.storageRate.value());
    }
    return new Coupling(
        pipeline,
        today,
        scenario.hosts() == null ? 2 : scenario.hosts(),
        share == null ? 0 : share,
        Math.max(networkTime, threadTime),
        networkTime,
        assumptions);
  }

  private static Pipeline withScenarioStorage(Pipeline measured, Scenario scenario) {
    Double rate = scenario.storageRate();
    return rate == null ? measured : measured.withStorage(rate);
  }

  private static @Nullable Double share(Pipeline pipeline, Scenario scenario) {
    Double requested = scenario.cacheShare(pipeline);
    if (requested != null || pipeline.freeMemoryBytes > 0) {
      return requested == null ? (Double) pipeline.memoryShare() : requested;
    }
    Pipeline.Peers peers = pipeline.peers;
    return peers == null || peers.cacheBytes() == 0 || pipeline.datasetBytes == 0
        ? null
        : (Double) Math.min(1, (double) peers.cacheBytes() / pipeline.datasetBytes);
  }

  /**
   * Returns the origins with a partitioned cache, which holds every item at most once: of n hosts
   * that can each cache a share c, each holds l = min(c, 1/n), and reads (n-1)l from the others.
   */
  static Origins partitioned(double hosts, double share) {
    double local = Math.min(share, 1 / hosts);
    return new Origins(local, (hosts - 1) * local);
  }

  /**
   * Returns the origins if each sample goes to the host that caches it, with all local batches of
   * equal size.
   */
  static Origins localityAware(double hosts, double share, double batch) {
    double cached = Math.min(1, hosts * share);
    double moved = Balancing.moved((int) hosts, (int) Math.max(1, Math.round(batch)), cached);
    return new Origins(cached - moved, moved);
  }

  /**
   * Returns the setup with separate caches: each host caches the same share of its items, and the
   * storage serves all hosts.
   */
  Setup separate(double count, double cached) {
    return today.hit(cached).remote(0, 0, 0).hosts(count);
  }

  Setup setup(double count, Origins origins) {
    return today
        .hit(origins.local())
        .remote(origins.remote(), threadNanos, networkNanos)
        .hosts(count);
  }
}
