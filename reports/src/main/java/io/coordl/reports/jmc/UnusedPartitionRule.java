package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;
import org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics;

/** A partitioned cache that could hold the data set, and does not. */
public final class UnusedPartitionRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.UnusedPartition";
  }

  @Override
  public String getName() {
    return "CoorDL: memory of the hosts not used";
  }

  @Override
  public String getTopic() {
    return JfrRuleTopics.FILE_IO;
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return job.unusedPartition();
  }

  @Override
  public String fine() {
    return "What the hosts' memory would hold together is not read from storage.";
  }
}
