package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;

/** The share of the training time that is waiting for data. */
public final class DataStallRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.DataStall";
  }

  @Override
  public String getName() {
    return "CoorDL: data stall";
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return Optional.of(job.dataStall());
  }
}
