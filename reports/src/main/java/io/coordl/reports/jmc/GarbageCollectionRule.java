package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;
import org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics;

/** A job that waits for batches while a collector works. */
public final class GarbageCollectionRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.GarbageCollection";
  }

  @Override
  public String getName() {
    return "CoorDL: batches held up by garbage collection";
  }

  @Override
  public String getTopic() {
    return JfrRuleTopics.GARBAGE_COLLECTION;
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return Optional.of(job.gcBound());
  }
}
