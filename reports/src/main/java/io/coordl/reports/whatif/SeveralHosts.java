package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Coupling.Origins;
import io.coordl.telemetry.advice.Text;
import java.util.List;
import java.util.function.DoubleFunction;

/**
 * How fast several hosts train on parts of the data set with one shared storage, with and without a
 * partitioned cache. Considers the storage, whose rate does not grow with the hosts (Yang and Cong,
 * HiPC'19), and the network that replaces it.
 */
final class SeveralHosts extends Question {
  SeveralHosts() {
    super("hosts", "Several hosts with a partitioned cache");
  }

  @Override
  List<Missing> missing(Pipeline measured, Scenario scenario) {
    return Coupling.missing(measured, scenario);
  }

  @Override
  Finding find(Pipeline measured, Scenario scenario) {
    Coupling coupling = Coupling.of(measured, scenario);
    Pipeline pipeline = coupling.pipeline();
    int hosts = coupling.hosts();
    double share = coupling.share();
    String named = Text.count(hosts, "host", "hosts");
    Origins origins = Coupling.partitioned(hosts, share);
    Setup own = coupling.own(hosts, share);
    Setup partitioned = coupling.setup(hosts, origins);
    Measure gain = pipeline.gain(own, partitioned);
    DoubleFunction<Setup> cluster = n -> coupling.setup(n, Coupling.partitioned(n, share));
    return new Finding(
        Text.format(
            "%s, each with room for %s of the data set in memory, train %s with separate caches"
                + " and %s with a partitioned one, %s as fast: a host then finds %s of"
                + " the items in its own memory, %s in that of the others and %s in storage. With"
                + " nothing cached, the storage feeds %s hosts.",
            named,
            percent(share),
            speed(all(pipeline, own, hosts)),
            speed(all(pipeline, partitioned, hosts)),
            times(gain),
            tenths(origins.local()),
            tenths(origins.remote()),
            tenths(origins.storage()),
            pipeline.figure(costs -> scalesTo(costs, coupling.today())).text()),
        new Figure("gain of a partitioned cache on " + named, "times", gain),
        Plot.of(
            Axis.HOSTS,
            new Axis("speed of all hosts", "samples/s"),
            new Point(1, pipeline.speed(pipeline.today())),
            series("nothing cached", pipeline, n -> coupling.own(n, 0)),
            series("a cache each", pipeline, n -> coupling.own(n, share)),
            series("partitioned cache", pipeline, cluster),
            series("a storage each", pipeline, n -> cluster.apply(n).hosts(1))),
        List.of(),
        coupling.assumptions());
  }

  private static Series series(String name, Pipeline pipeline, DoubleFunction<Setup> of) {
    return Series.of(name, Coupling.COUNTS, n -> all(pipeline, of.apply(n), n));
  }

  private static Measure all(Pipeline pipeline, Setup setup, double hosts) {
    return pipeline.speed(setup).times(hosts);
  }

  /** The number of hosts that the storage can feed with nothing cached: R / V (Yang and Cong). */
  static double scalesTo(Costs costs, Setup setup) {
    return costs.storage() == 0
        ? 0
        : costs.nanos(setup.hit(1)) / (costs.storage() / setup.storageFactor);
  }
}
