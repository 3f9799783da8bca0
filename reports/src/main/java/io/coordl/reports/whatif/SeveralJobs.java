package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.telemetry.advice.Text;
import java.util.ArrayList;
import java.util.List;

/**
 * Predicts the speed of several jobs on one host, independently and with coordinated prep. The jobs
 * share cores, storage and memory; each has its own accelerator.
 */
final class SeveralJobs extends Question {
  SeveralJobs() {
    super("jobs", "Several jobs on this host", "todayHit", "cores");
  }

  @Override
  Finding find(Pipeline pipeline, Scenario scenario) {
    Setup today = pipeline.today();
    int jobs = scenario.jobs() == null ? 2 : scenario.jobs();
    String jobsText = Text.count(jobs, "job", "jobs");
    Setup independent = today.jobs(jobs, false);
    Setup coordinated = today.jobs(jobs, true);
    Measure gain = pipeline.gain(independent, coordinated);
    List<String> assumptions = new ArrayList<>();
    assumptions.add(
        "the jobs are identical, no two share an accelerator, and the page cache has the same hit"
            + " ratio for several jobs as for one");
    assumptions.addAll(storageAssumption(pipeline));
    double[] counts = Series.steps(1, Math.max(8, jobs), 1);
    return new Finding(
        Text.format(
            "each of %s runs at %s independently and at %s with coordinated prep, %s as fast; one"
                + " alone runs at %s.",
            jobsText,
            speed(pipeline, independent),
            speed(pipeline, coordinated),
            times(gain),
            speed(pipeline, today)),
        new Figure("gain of coordinated prep for " + jobsText, "times", gain),
        Plot.of(
            new Axis("jobs", "jobs"),
            new Axis("speed of each job", "samples/s"),
            new Point(1, pipeline.speed(today)),
            series("independent jobs", counts, pipeline, n -> today.jobs((int) n, false)),
            series("coordinated", counts, pipeline, n -> today.jobs((int) n, true))),
        jobs > 1 && isWorthIt(gain) ? List.of("prep=coordinate", "prep.jobs=" + jobs) : List.of(),
        assumptions);
  }
}
