package io.coordl.reports.jmc;

import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableFuture;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.unit.UnitLookup;
import org.openjdk.jmc.common.util.IPreferenceValueProvider;
import org.openjdk.jmc.common.util.TypedPreference;
import org.openjdk.jmc.flightrecorder.rules.IResult;
import org.openjdk.jmc.flightrecorder.rules.IResultValueProvider;
import org.openjdk.jmc.flightrecorder.rules.IRule;
import org.openjdk.jmc.flightrecorder.rules.ResultBuilder;
import org.openjdk.jmc.flightrecorder.rules.Severity;
import org.openjdk.jmc.flightrecorder.rules.TypedResult;
import org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics;
import org.openjdk.jmc.flightrecorder.rules.util.RulesToolkit;
import org.openjdk.jmc.flightrecorder.rules.util.RulesToolkit.EventAvailability;

/**
 * What all rules share; a rule says what it looks for. Rules have no state, so Mission Control may
 * evaluate them on any thread, and several at once.
 */
interface JobRule extends IRule {
  /** A share of the wall time, in percent, from which on a finding is worth a look. */
  double WORTH_A_LOOK = 5;

  /** A share of the wall time, in percent, from which on a finding is a warning. */
  double WARNING = 20;

  /** Looks at a job of which at least one batch was measured; empty if there is nothing to say. */
  Optional<Finding> look(Findings job);

  /** Whether it holds of the recording of a profile, too. */
  default boolean looksAtProfiles() {
    return false;
  }

  /** 0 to 100 as Mission Control has it: from 25 on worth a look, from 75 on a warning. */
  default double score(Finding finding) {
    return RulesToolkit.mapExp100(100 * finding.share(), WORTH_A_LOOK, WARNING);
  }

  /** What to say where there is nothing to say. */
  default String fine() {
    return "Not found in this recording.";
  }

  @Override
  default String getTopic() {
    return JfrRuleTopics.JAVA_APPLICATION;
  }

  /** None: whether a recording is ours is looked up when it is evaluated. */
  @Override
  default Map<String, EventAvailability> getRequiredEvents() {
    return Map.of();
  }

  @Override
  default Collection<TypedPreference<?>> getConfigurationAttributes() {
    return List.of();
  }

  @Override
  default Collection<TypedResult<?>> getResults() {
    return List.of(TypedResult.SCORE);
  }

  @Override
  default RunnableFuture<IResult> createEvaluation(
      IItemCollection items,
      IPreferenceValueProvider preferences,
      IResultValueProvider otherResults) {
    return new FutureTask<>(() -> evaluate(items, preferences));
  }

  private IResult evaluate(IItemCollection items, IPreferenceValueProvider preferences) {
    ResultBuilder result = ResultBuilder.createFor(this, preferences);
    if (!Items.areOurs(items)) {
      return result.setSeverity(Severity.IGNORE).build();
    }
    try {
      Findings job = Findings.of(Items.recording(items));
      if (!job.measured()) {
        return result
            .setSeverity(Severity.NA)
            .setSummary("No batch was seen: let the job train at least one epoch.")
            .build();
      }
      if (job.profiled() && !looksAtProfiles()) {
        return result
            .setSeverity(Severity.NA)
            .setSummary(
                "This is the recording of a profile, and what its phases did to the job is in its"
                    + " totals: ask coordl diff and coordl whatif.")
            .build();
      }
      return look(job).map(finding -> found(result, finding)).orElseGet(() -> nothing(result));
    } catch (RecordingException e) {
      return result
          .setSeverity(Severity.NA)
          .setSummary(Html.of(String.valueOf(e.getMessage())))
          .build();
    }
  }

  private IResult found(ResultBuilder result, Finding finding) {
    double score = score(finding);
    Severity severity = Severity.get(score);
    result
        .setSeverity(severity)
        .setSummary(Html.of(finding.what()))
        .setExplanation(Html.of(finding.why()))
        .addResult(TypedResult.SCORE, UnitLookup.NUMBER_UNITY.quantity(score));
    if (severity != Severity.OK) {
      result.setSolution(Html.of(finding.next()));
    }
    return result.build();
  }

  private IResult nothing(ResultBuilder result) {
    return result
        .setSeverity(Severity.OK)
        .setSummary(fine())
        .addResult(TypedResult.SCORE, UnitLookup.NUMBER_UNITY.quantity(0))
        .build();
  }
}
