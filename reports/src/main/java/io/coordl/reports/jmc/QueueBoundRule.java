package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;

/** A job whose batches wait for a worker or for their hand-over. */
public final class QueueBoundRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.QueueBound";
  }

  @Override
  public String getName() {
    return "CoorDL: batches queue";
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return Optional.of(job.queueBound());
  }
}
