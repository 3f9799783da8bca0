package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Coupling.Origins;
import io.coordl.telemetry.advice.Text;
import java.util.List;
import java.util.function.DoubleFunction;

/**
 * Predicts the training speed of several hosts that split the data set and share one storage, with
 * and without a partitioned cache. Models the storage, whose rate does not grow with the number of
 * hosts (Yang and Cong, HiPC'19), and the network, which serves cached items instead.
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
    String hostsText = Text.count(hosts, "host", "hosts");
    Origins origins = Coupling.partitioned(hosts, share);
    Setup separate = coupling.separate(hosts, share);
    Setup partitioned = coupling.setup(hosts, origins);
    Measure gain = pipeline.gain(separate, partitioned);
    DoubleFunction<Setup> cluster = n -> coupling.setup(n, Coupling.partitioned(n, share));
    return new Finding(
        Text.format(
            "%s, each with room for %s of the data set in memory, train at %s with separate caches"
                + " and at %s with a partitioned one, %s as fast. Each host then finds %s of the"
                + " items in its own memory, %s in that of the others and %s in storage. Without a"
                + " cache, the storage can feed %s hosts.",
            hostsText,
            percent(share),
            speed(totalSpeed(pipeline, separate, hosts)),
            speed(totalSpeed(pipeline, partitioned, hosts)),
            times(gain),
            tenths(origins.local()),
            tenths(origins.remote()),
            tenths(origins.storage()),
            pipeline.figure(costs -> scalesTo(costs, coupling.today())).text()),
        new Figure("speed-up by a partitioned cache on " + hostsText, "times", gain),
        Plot.of(
            Axis.HOSTS,
            new Axis("speed of all hosts", "samples/s"),
            new Point(1, pipeline.speed(pipeline.today())),
            series("nothing cached", pipeline, n -> coupling.separate(n, 0)),
            series("separate caches", pipeline, n -> coupling.separate(n, share)),
            series("partitioned cache", pipeline, cluster),
            series("storage per host", pipeline, n -> cluster.apply(n).hosts(1))),
        List.of(),
        coupling.assumptions());
  }

  private static Series series(String name, Pipeline pipeline, DoubleFunction<Setup> setup) {
    return Series.of(name, Coupling.COUNTS, n -> totalSpeed(pipeline, setup.apply(n), n));
  }

  private static Measure totalSpeed(Pipeline pipeline, Setup setup, double hosts) {
    return pipeline.speed(setup).times(hosts);
  }

  /**
   * Returns the number of hosts that the storage can feed without any cache (R / V in the paper by
   * Yang and Cong).
   */
  static double scalesTo(Costs costs, Setup setup) {
    return costs.storage() == 0
        ? 0
        : costs.nanos(setup.hit(1)) / (costs.storage() / setup.storageFactor);
  }
}
