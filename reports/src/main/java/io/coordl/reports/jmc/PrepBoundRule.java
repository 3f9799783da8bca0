package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;

/** A job that waits for decoding, transforms and assembly. */
public final class PrepBoundRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.PrepBound";
  }

  @Override
  public String getName() {
    return "CoorDL: waiting for preparation";
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return Optional.of(job.prepBound());
  }
}
