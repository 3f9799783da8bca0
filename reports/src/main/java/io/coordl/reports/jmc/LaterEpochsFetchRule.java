package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;
import org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics;

/** A cache that is on and does not hold what later epochs ask for. */
public final class LaterEpochsFetchRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.LaterEpochsFetch";
  }

  @Override
  public String getName() {
    return "CoorDL: later epochs read from storage";
  }

  @Override
  public String getTopic() {
    return JfrRuleTopics.FILE_IO;
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return job.laterEpochsFetch();
  }

  @Override
  public String fine() {
    return "Later epochs do not wait for storage, or the cache is off.";
  }
}
