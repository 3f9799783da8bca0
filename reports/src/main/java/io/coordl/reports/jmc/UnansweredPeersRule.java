package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;
import org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics;

/** Hosts of the partitioned cache that answer late or not at all. */
public final class UnansweredPeersRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.UnansweredPeers";
  }

  @Override
  public String getName() {
    return "CoorDL: hosts that do not answer";
  }

  @Override
  public String getTopic() {
    return JfrRuleTopics.SOCKET_IO;
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return job.unansweredPeers();
  }

  @Override
  public String fine() {
    return "Every host that was asked answered.";
  }
}
