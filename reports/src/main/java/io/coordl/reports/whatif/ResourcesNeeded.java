package io.coordl.reports.whatif;

import io.coordl.reports.cluster.DemandTable;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import java.util.List;

/**
 * Finds the smallest amounts of cores, memory and storage rate with which the job trains at nearly
 * its full speed.
 */
final class ResourcesNeeded extends Question {
  ResourcesNeeded() {
    super("demand", "Cores, memory and storage needed");
  }

  @Override
  List<Missing> missing(Pipeline pipeline, Scenario scenario) {
    return SpeedLaw.of(pipeline).missing();
  }

  @Override
  Finding find(Pipeline pipeline, Scenario scenario) {
    SpeedLaw law = SpeedLaw.of(pipeline);
    DemandTable table = law.table(1);
    double[] cores = table.cores().stream().mapToDouble(Double::doubleValue).toArray();
    return new Finding(
        SpeedLaw.sentence(table),
        new Figure("cores needed", "cores", Measure.exact(table.knee().cores())),
        plot(
            pipeline,
            new Axis("cores", "cores"),
            (double) pipeline.cores,
            series("every item in memory", cores, law, pipeline, 1),
            series("half of them", cores, law, pipeline, 0.5),
            series("none of them", cores, law, pipeline, 0)),
        List.of(),
        List.of());
  }

  private static Series series(
      String name, double[] cores, SpeedLaw law, Pipeline pipeline, double hit) {
    Setup today = pipeline.today();
    return Series.of(
        name,
        cores,
        at -> {
          Measure speed = pipeline.speed(today.cores(at).hit(hit));
          return new Measure(law.speed(at, hit, 1), speed.error());
        });
  }
}
