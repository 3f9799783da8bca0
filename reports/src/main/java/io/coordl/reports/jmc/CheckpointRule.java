package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;
import org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics;

/** A job that waits for its own models to be written. */
public final class CheckpointRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.Checkpoint";
  }

  @Override
  public String getName() {
    return "CoorDL: training stands still for checkpoints";
  }

  @Override
  public String getTopic() {
    return JfrRuleTopics.FILE_IO;
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return Optional.of(job.checkpointBound());
  }
}
