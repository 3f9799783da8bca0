package io.coordl.reports.whatif;

import io.coordl.advice.Text;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Figure;
import io.coordl.reports.whatif.Answer.Plot;
import io.coordl.reports.whatif.Answer.Point;
import io.coordl.reports.whatif.Together.Origins;
import java.util.List;

/**
 * What several hosts do that train on parts of the data set and share one storage, with and without
 * a partitioned cache. Looks at the storage, whose rate does not grow with the hosts (Yang and
 * Cong, HiPC'19), and at the network that takes its place.
 */
final class HostsTogether implements Question {
  @Override
  public String name() {
    return "hosts";
  }

  @Override
  public String title() {
    return "Several hosts with a partitioned cache";
  }

  @Override
  public Answer ask(Pipeline measured, Wishes wishes) {
    List<Missing> missing = Together.missing(measured, wishes);
    if (!missing.isEmpty()) {
      return Answer.withheld(name(), title(), missing);
    }
    Together together = Together.of(measured, wishes);
    Pipeline pipeline = together.pipeline();
    Setup today = together.today();
    int hosts = together.hosts();
    double share = together.share();
    Origins origins = Together.partitioned(hosts, share);
    Setup own = together.own(hosts, share);
    Setup partitioned = together.setup(hosts, origins);
    Measure gain = pipeline.gain(own, partitioned);
    Measure scales = pipeline.figure(costs -> scalesTo(costs, today));
    return new Answer(
        name(),
        title(),
        hosts
            + (hosts == 1 ? " host" : " hosts")
            + ", each with room for "
            + Sketch.percent(share)
            + " of the data set in memory, train "
            + total(pipeline, own, hosts)
            + " with a cache of their own each and "
            + total(pipeline, partitioned, hosts)
            + " with a partitioned one, "
            + Sketch.times(gain)
            + " as fast: a host then finds "
            + Sketch.tenths(origins.local())
            + " of the items in its own memory, "
            + Sketch.tenths(origins.remote())
            + " in that of the others and "
            + Sketch.tenths(origins.storage())
            + " in storage. With nothing cached, the storage feeds "
            + Sketch.number(scales)
            + " hosts.",
        new Figure(
            "gain of a partitioned cache on " + Text.count(hosts, "host", "hosts"), "times", gain),
        new Plot(
            new Axis("hosts", "hosts"),
            new Axis("speed of all hosts", "samples/s"),
            new Point(1, pipeline.speed(pipeline.today())),
            List.of(
                Sketch.series(
                    "nothing cached", Together.COUNTS, n -> all(pipeline, together.own(n, 0), n)),
                Sketch.series(
                    "a cache each", Together.COUNTS, n -> all(pipeline, together.own(n, share), n)),
                Sketch.series(
                    "partitioned cache",
                    Together.COUNTS,
                    n -> all(pipeline, together.setup(n, Together.partitioned(n, share)), n)),
                Sketch.series(
                    "a storage each",
                    Together.COUNTS,
                    n ->
                        all(
                            pipeline,
                            together.setup(n, Together.partitioned(n, share)).hosts(1),
                            n)))),
        List.of(),
        together.assumptions(),
        List.of());
  }

  private static Measure all(Pipeline pipeline, Setup setup, double hosts) {
    return pipeline.speed(setup).times(hosts);
  }

  private static String total(Pipeline pipeline, Setup setup, double hosts) {
    return Sketch.speed(all(pipeline, setup, hosts));
  }

  /** With nothing cached, as many as the storage feeds: R / V (Yang and Cong). */
  static double scalesTo(Costs costs, Setup setup) {
    return costs.storage() == 0
        ? 0
        : costs.nanos(setup.hit(1)) / (costs.storage() / setup.storageFactor());
  }
}
