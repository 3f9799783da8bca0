package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;
import org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics;

/** A job that waits for storage, and the cache is off. */
public final class FetchBoundRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.FetchBound";
  }

  @Override
  public String getName() {
    return "CoorDL: waiting for storage";
  }

  @Override
  public String getTopic() {
    return JfrRuleTopics.FILE_IO;
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return job.fetchBound();
  }

  @Override
  public String fine() {
    return "The MinIO cache is on.";
  }
}
