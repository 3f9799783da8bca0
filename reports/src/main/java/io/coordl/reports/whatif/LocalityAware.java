package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Coupling.Origins;
import io.coordl.telemetry.advice.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/**
 * Predicts the speed of a partitioned cache if each sample of a global batch went to the host that
 * caches it (Yang and Cong, HiPC'19). This saves only transfers between hosts. The agent does not
 * assign samples this way; docs/design/locality-aware.md explains why.
 */
final class LocalityAware extends Question {
  private static final int MANY = 256;

  LocalityAware() {
    super("locality", "Samples to the hosts that cache them");
  }

  @Override
  List<Missing> missing(Pipeline measured, Scenario scenario) {
    List<Missing> missing = new ArrayList<>(Coupling.missing(measured, scenario));
    if (missing.isEmpty() && measured.batchSamples <= 0) {
      missing.add(
          new Missing(
              "batchSamples",
              "the number of samples in a batch was not measured: measure it with coordl profile --"
                  + " java ... your.Program."));
    }
    return missing;
  }

  @Override
  Finding find(Pipeline measured, Scenario scenario) {
    Coupling coupling = Coupling.of(measured, scenario);
    int hosts = coupling.hosts();
    double share = coupling.share();
    double batch = coupling.pipeline().batchSamples;
    Origins any = Coupling.partitioned(hosts, share);
    Origins aware = Coupling.localityAware(hosts, share, batch);
    Measure gain = gain(coupling, hosts);
    List<String> assumptions = new ArrayList<>(coupling.assumptions());
    assumptions.add(
        "every host trains on its part of the same global batch, drawn at random from the whole"
            + " data set");
    return new Finding(
        Text.format(
            "%s %s of the items from each other; if each sample went to the host that caches it,"
                + " with batches of %.0f per host, %s would move, and the hosts would train %s as"
                + " fast (%d hosts: %s). The agent does not do this.",
            Text.count(hosts, "host fetches", "hosts with a partitioned cache fetch"),
            tenths(any.remote()),
            batch,
            tenths(aware.remote()),
            times(gain),
            MANY,
            times(gain(coupling, MANY))),
        new Figure(
            "gain of locality-aware assignment on " + Text.count(hosts, "host", "hosts"),
            "times",
            gain),
        Plot.of(
            Axis.HOSTS,
            new Axis("items from there", "share"),
            null,
            series("other hosts", n -> Coupling.partitioned(n, share).remote()),
            series("if assigned by cache", n -> Coupling.localityAware(n, share, batch).remote()),
            series("storage", n -> Coupling.partitioned(n, share).storage())),
        List.of(),
        assumptions);
  }

  private static Series series(String name, DoubleUnaryOperator share) {
    return Series.of(name, Coupling.COUNTS, n -> Measure.exact(share.applyAsDouble(n)));
  }

  private static Measure gain(Coupling coupling, int hosts) {
    double share = coupling.share();
    Pipeline pipeline = coupling.pipeline();
    return pipeline.gain(
        coupling.setup(hosts, Coupling.partitioned(hosts, share)),
        coupling.setup(hosts, Coupling.localityAware(hosts, share, pipeline.batchSamples)));
  }
}
