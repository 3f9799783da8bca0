package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Figure;
import io.coordl.reports.whatif.Answer.Plot;
import io.coordl.reports.whatif.Answer.Point;
import java.util.ArrayList;
import java.util.List;

/**
 * What several hosts do that train on parts of the data set and share one storage, with and without
 * a partitioned cache. Looks at the storage, whose rate does not grow with the hosts (Yang and
 * Cong, HiPC'19), and at the network that takes its place.
 */
final class HostsTogether implements Question {
  private static final double[] COUNTS = {1, 2, 4, 8, 16, 32, 64, 128, 256};

  @Override
  public String name() {
    return "hosts";
  }

  @Override
  public String title() {
    return "Several hosts with a partitioned cache";
  }

  @Override
  public Answer ask(Pipeline pipeline, Wishes wishes) {
    List<Missing> missing =
        new ArrayList<>(
            pipeline.missing(
                "computeNanos",
                "prepNanos",
                "missNanos",
                "storageRate",
                "sampleBytes",
                "todayHit"));
    Double network = wishes.networkRate();
    if (network == null) {
      missing.add(
          new Missing(
              "networkRate",
              "no recording shows the rate between hosts: give it with --network, such as"
                  + " --network 1.2GB."));
    }
    if (!missing.isEmpty() || network == null) {
      return Answer.withheld(name(), title(), missing);
    }
    int hosts = wishes.hosts() == null ? 2 : wishes.hosts();
    Double asked = Cache.share(pipeline, wishes);
    double share = asked == null ? pipeline.memoryShare() : asked;
    double nanos = pipeline.sampleBytes() / network * 1e9;
    Setup today = pipeline.today();
    Measure gain = pipeline.gain(own(today, hosts, share), partitioned(today, hosts, share, nanos));
    Measure scales = pipeline.figure(costs -> scalesTo(costs, today));
    List<String> assumptions = new ArrayList<>(pipeline.assumptions());
    assumptions.add("the hosts are alike and share one storage of the rate measured here");
    assumptions.add("exchanging gradients costs no more than it does today");
    return new Answer(
        name(),
        title(),
        hosts
            + " hosts, each with "
            + Sketch.percent(share)
            + " of the data set in memory, train "
            + total(pipeline, own(today, hosts, share), hosts)
            + " with a cache of their own each and "
            + total(pipeline, partitioned(today, hosts, share, nanos), hosts)
            + " with a partitioned one, "
            + Sketch.times(gain)
            + " as fast; with nothing cached, the storage feeds "
            + Sketch.number(scales)
            + " hosts.",
        new Figure("gain of a partitioned cache on " + hosts + " hosts", "times", gain),
        new Plot(
            new Axis("hosts", "hosts"),
            new Axis("speed of all hosts", "samples/s"),
            new Point(1, pipeline.speed(today)),
            List.of(
                Sketch.series("nothing cached", COUNTS, n -> all(pipeline, own(today, n, 0), n)),
                Sketch.series("a cache each", COUNTS, n -> all(pipeline, own(today, n, share), n)),
                Sketch.series(
                    "partitioned cache",
                    COUNTS,
                    n -> all(pipeline, partitioned(today, n, share, nanos), n)),
                Sketch.series(
                    "with a storage each",
                    COUNTS,
                    n -> all(pipeline, partitioned(today, n, share, nanos).hosts(1), n)))),
        List.of(),
        assumptions,
        List.of());
  }

  private static Measure all(Pipeline pipeline, Setup setup, double hosts) {
    return pipeline.speed(setup).times(hosts);
  }

  private static String total(Pipeline pipeline, Setup setup, double hosts) {
    return Sketch.speed(all(pipeline, setup, hosts));
  }

  /** Each host caches the same part of what it is asked for, and the storage serves them all. */
  private static Setup own(Setup today, double hosts, double share) {
    return today.hit(share).hosts(hosts);
  }

  /** Together they hold n times the part of one; a host finds its own part at home. */
  private static Setup partitioned(Setup today, double hosts, double share, double nanos) {
    double remote = Math.min(1 - share, (hosts - 1) * share);
    return today.hit(share).remote(remote, nanos).hosts(hosts);
  }

  /** With nothing cached, as many as the storage feeds: R / V (Yang and Cong). */
  static double scalesTo(Costs costs, Setup setup) {
    return costs.storage() == 0 ? 0 : costs.nanos(setup.hit(1)) / costs.storage();
  }
}
