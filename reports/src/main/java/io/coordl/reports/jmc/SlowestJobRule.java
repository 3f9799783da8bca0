package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;

/** Coordinated prep that runs at the pace of one slow job. */
public final class SlowestJobRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.SlowestJob";
  }

  @Override
  public String getName() {
    return "CoorDL: waiting for the slowest job";
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return job.slowestJob();
  }

  @Override
  public String fine() {
    return "No job of a group was waited for.";
  }
}
