package io.coordl.reports.jmc;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Optional;
import org.openjdk.jmc.flightrecorder.rules.Severity;

/** Something inside the agent failed: always worth a look, never a warning. */
public final class AgentFaultRule implements JobRule {
  @Override
  public String getId() {
    return "io.coordl.AgentFault";
  }

  @Override
  public String getName() {
    return "CoorDL: faults of the agent";
  }

  @Override
  public Optional<Finding> look(Findings job) {
    return job.faults();
  }

  @Override
  public boolean looksAtProfiles() {
    return true;
  }

  @Override
  public String fine() {
    return "The agent had no fault.";
  }

  @Override
  public double score(Finding finding) {
    return (Severity.INFO.getLimit() + Severity.WARNING.getLimit()) / 2;
  }
}
