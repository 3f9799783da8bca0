package io.coordl.reports.whatif;

import io.coordl.advice.Text;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Figure;
import io.coordl.reports.whatif.Answer.Plot;
import io.coordl.reports.whatif.Together.Origins;
import java.util.ArrayList;
import java.util.List;

/**
 * What a partitioned cache would do if each sample of a global batch went to the host that keeps it
 * (Yang and Cong, HiPC'19). Looks at the network, which is all that this spares. The agent does not
 * do it: docs/design/locality-aware.md says why.
 */
final class LocalityAware implements Question {
  private static final int MANY = 256;

  @Override
  public String name() {
    return "locality";
  }

  @Override
  public String title() {
    return "Samples to the hosts that keep them";
  }

  @Override
  public Answer ask(Pipeline measured, Wishes wishes) {
    List<Missing> missing = new ArrayList<>(Together.missing(measured, wishes));
    if (missing.isEmpty() && measured.batchSamples() <= 0) {
      missing.add(
          new Missing(
              "batchSamples",
              "how many samples a batch has was not measured: measure it with coordl profile --"
                  + " java ... your.Program."));
    }
    if (!missing.isEmpty()) {
      return Answer.withheld(name(), title(), missing);
    }
    Together together = Together.of(measured, wishes);
    Pipeline pipeline = together.pipeline();
    int hosts = together.hosts();
    double share = together.share();
    double batch = pipeline.batchSamples();
    Origins any = Together.partitioned(hosts, share);
    Origins aware = Together.localityAware(hosts, share, batch);
    Measure gain = gain(together, hosts, any, aware);
    Measure gainOfMany =
        gain(
            together,
            MANY,
            Together.partitioned(MANY, share),
            Together.localityAware(MANY, share, batch));
    List<String> assumptions = new ArrayList<>(together.assumptions());
    assumptions.add(
        "every host trains on its part of the same global batch, drawn at random from the whole"
            + " data set");
    return new Answer(
        name(),
        title(),
        hosts
            + (hosts == 1 ? " host fetches " : " hosts with a partitioned cache fetch ")
            + Sketch.tenths(any.remote())
            + " of the items from each other; were each sample given to the host that keeps it,"
            + " with batches of "
            + Text.format("%.0f", batch)
            + " a host, "
            + Sketch.tenths(aware.remote())
            + " would move, and they would train "
            + Sketch.times(gain)
            + " as fast ("
            + MANY
            + " hosts: "
            + Sketch.times(gainOfMany)
            + "). The agent does not do this.",
        new Figure(
            "gain of locality-aware assignment on " + Text.count(hosts, "host", "hosts"),
            "times",
            gain),
        new Plot(
            new Axis("hosts", "hosts"),
            new Axis("items from there", "share"),
            null,
            List.of(
                Sketch.series(
                    "other hosts",
                    Together.COUNTS,
                    n -> Measure.exact(Together.partitioned(n, share).remote())),
                Sketch.series(
                    "same, assigned",
                    Together.COUNTS,
                    n -> Measure.exact(Together.localityAware(n, share, batch).remote())),
                Sketch.series(
                    "storage",
                    Together.COUNTS,
                    n -> Measure.exact(Together.partitioned(n, share).storage())))),
        List.of(),
        assumptions,
        List.of());
  }

  private static Measure gain(Together together, int hosts, Origins any, Origins aware) {
    return together.pipeline().gain(together.setup(hosts, any), together.setup(hosts, aware));
  }
}
