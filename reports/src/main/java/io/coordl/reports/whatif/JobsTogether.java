package io.coordl.reports.whatif;

import io.coordl.advice.Text;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Figure;
import io.coordl.reports.whatif.Answer.Plot;
import io.coordl.reports.whatif.Answer.Point;
import java.util.ArrayList;
import java.util.List;

/**
 * What several jobs of one host do, each for itself and with coordinated prep. Looks at what they
 * share: cores, storage and memory; each has an accelerator of its own.
 */
final class JobsTogether implements Question {
  @Override
  public String name() {
    return "jobs";
  }

  @Override
  public String title() {
    return "Several jobs on this host";
  }

  @Override
  public Answer ask(Pipeline pipeline, Wishes wishes) {
    List<Missing> missing =
        pipeline.missing("computeNanos", "prepNanos", "missNanos", "todayHit", "cores");
    if (!missing.isEmpty()) {
      return Answer.withheld(name(), title(), missing);
    }
    Setup today = pipeline.today();
    int jobs = wishes.jobs() == null ? 2 : wishes.jobs();
    Measure alone = pipeline.speed(today.jobs(jobs, false));
    Measure together = pipeline.speed(today.jobs(jobs, true));
    Measure gain = pipeline.gain(today.jobs(jobs, false), today.jobs(jobs, true));
    List<String> assumptions = new ArrayList<>(pipeline.assumptions());
    assumptions.add(
        "the jobs are alike, each computes on its own, and the page cache hits as much for several"
            + " as for one");
    if (pipeline.storageRate() == null) {
      assumptions.add("the storage is not at its limit, as its rate is not known");
    }
    double[] counts = Sketch.steps(1, Math.max(8, jobs), 1);
    return new Answer(
        name(),
        title(),
        "each of "
            + jobs
            + (jobs == 1 ? " job" : " jobs")
            + " runs at "
            + Sketch.speed(alone)
            + " for itself and at "
            + Sketch.speed(together)
            + " with coordinated prep, "
            + Sketch.times(gain)
            + " as fast; one alone runs at "
            + Sketch.speed(pipeline.speed(today))
            + ".",
        new Figure("gain of coordinated prep for " + jobs + " jobs", "times", gain),
        new Plot(
            new Axis("jobs", "jobs"),
            new Axis("speed of each job", "samples/s"),
            new Point(1, pipeline.speed(today)),
            List.of(
                Sketch.series(
                    "each for itself",
                    counts,
                    count -> pipeline.speed(today.jobs((int) count, false))),
                Sketch.series(
                    "coordinated",
                    counts,
                    count -> pipeline.speed(today.jobs((int) count, true))))),
        jobs > 1 && Sketch.worthIt(gain)
            ? List.of("prep=coordinate", Text.format("prep.jobs=%d", jobs))
            : List.of(),
        assumptions,
        List.of());
  }
}
