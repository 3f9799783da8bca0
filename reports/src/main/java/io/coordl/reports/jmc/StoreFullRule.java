package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;
import org.openjdk.jmc.flightrecorder.rules.Severity;
import org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics;

/** A store that had to turn items away: worth a look, never a warning of its own. */
public final class StoreFullRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.StoreFull";
  }

  @Override
  public String getName() {
    return "CoorDL: cache full";
  }

  @Override
  public String getTopic() {
    return JfrRuleTopics.FILE_IO;
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return job.storeFull();
  }

  @Override
  public String fine() {
    return "No store turned an item away.";
  }

  @Override
  public double score(Finding finding) {
    return Severity.INFO.getLimit()
        + finding.share() * (Severity.WARNING.getLimit() - 1 - Severity.INFO.getLimit());
  }
}
