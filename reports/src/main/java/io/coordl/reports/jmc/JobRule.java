package io.coordl.reports.jmc;

import io.coordl.reports.recording.Collector;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableFuture;
import java.util.function.Function;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.item.ItemFilters;
import org.openjdk.jmc.common.unit.UnitLookup;
import org.openjdk.jmc.common.util.IPreferenceValueProvider;
import org.openjdk.jmc.common.util.TypedPreference;
import org.openjdk.jmc.flightrecorder.rules.IResult;
import org.openjdk.jmc.flightrecorder.rules.IResultValueProvider;
import org.openjdk.jmc.flightrecorder.rules.IRule;
import org.openjdk.jmc.flightrecorder.rules.ResultBuilder;
import org.openjdk.jmc.flightrecorder.rules.Severity;
import org.openjdk.jmc.flightrecorder.rules.TypedResult;
import org.openjdk.jmc.flightrecorder.rules.util.RulesToolkit;
import org.openjdk.jmc.flightrecorder.rules.util.RulesToolkit.EventAvailability;

/**
 * Common part of all rules; each rule supplies its finding. Rules have no state, so Mission Control
 * may evaluate them on any thread, and several at the same time.
 */
abstract class JobRule implements IRule {
  /**
   * Share of the wall time, in percent, at or above which Mission Control shows a finding as
   * information.
   */
  private static final double INFORMATION = 5;

  /** Share of the wall time, in percent, at or above which a finding is a warning. */
  private static final double WARNING = 20;

  private static final Path NAME = Path.of("recording");

  private final String id;
  private final String name;
  private final String topic;
  private final Function<Findings, Optional<Finding>> finder;
  private final String summaryWithoutFinding;

  /**
   * @param finder returns the finding of a job with at least one measured batch; empty if there is
   *     none
   * @param summaryWithoutFinding the summary if there is none
   */
  JobRule(
      String name,
      String topic,
      Function<Findings, Optional<Finding>> finder,
      String summaryWithoutFinding) {
    id = "io.coordl." + getClass().getSimpleName();
    this.name = "CoorDL: " + name;
    this.topic = topic;
    this.finder = finder;
    this.summaryWithoutFinding = summaryWithoutFinding;
  }

  /** Returns whether the rule also applies to the recording of a profile. */
  boolean appliesToProfiles() {
    return false;
  }

  /** Returns Mission Control's score, 0 to 100: 25 or more is information, 75 or more a warning. */
  double score(Finding finding) {
    return RulesToolkit.mapExp100(100 * finding.share(), INFORMATION, WARNING);
  }

  @Override
  public String getId() {
    return id;
  }

  @Override
  public String getName() {
    return name;
  }

  @Override
  public String getTopic() {
    return topic;
  }

  /** Returns an empty map: the evaluation itself checks whether the recording has CoorDL events. */
  @Override
  public Map<String, EventAvailability> getRequiredEvents() {
    return Map.of();
  }

  @Override
  public Collection<TypedPreference<?>> getConfigurationAttributes() {
    return List.of();
  }

  @Override
  public Collection<TypedResult<?>> getResults() {
    return List.of(TypedResult.SCORE);
  }

  @Override
  public RunnableFuture<IResult> createEvaluation(
      IItemCollection items,
      IPreferenceValueProvider preferences,
      IResultValueProvider otherResults) {
    return new FutureTask<>(() -> evaluate(items, preferences));
  }

  private IResult evaluate(IItemCollection items, IPreferenceValueProvider preferences) {
    ResultBuilder result = ResultBuilder.createFor(this, preferences);
    if (!hasOurEvents(items)) {
      return result.setSeverity(Severity.IGNORE).build();
    }
    try {
      Findings job = new Findings(recording(items));
      if (!job.isMeasured()) {
        return notApplicable(
            result, "No batch was recorded: let the job train at least one epoch.");
      }
      if (job.isProfiled() && !appliesToProfiles()) {
        return notApplicable(
            result,
            "This is the recording of a profile, whose totals include the effects of its phases:"
                + " use coordl diff and coordl whatif.");
      }
      return finder
          .apply(job)
          .map(finding -> found(result, finding))
          .orElseGet(() -> scored(result, 0, summaryWithoutFinding));
    } catch (RecordingException e) {
      return notApplicable(result, html(String.valueOf(e.getMessage())));
    }
  }

  private static IResult notApplicable(ResultBuilder result, String why) {
    return result.setSeverity(Severity.NA).setSummary(why).build();
  }

  private IResult found(ResultBuilder result, Finding finding) {
    double score = score(finding);
    result.setExplanation(html(finding.why()));
    if (Severity.get(score) != Severity.OK) {
      result.setSolution(html(finding.next()));
    }
    return scored(result, score, html(finding.what()));
  }

  private static IResult scored(ResultBuilder result, double score, String summary) {
    return result
        .setSeverity(Severity.get(score))
        .setSummary(summary)
        .addResult(TypedResult.SCORE, UnitLookup.NUMBER_UNITY.quantity(score))
        .build();
  }

  private static boolean hasOurEvents(IItemCollection items) {
    for (IItemIterable ofOneType : items) {
      if (ofOneType.getType().getIdentifier().startsWith("io.coordl.") && ofOneType.hasItems()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the recording that the events describe; throws if they come from several runs or
   * another version of the agent. Reads only totals, however many events there are.
   */
  static JobRecording recording(IItemCollection items) throws RecordingException {
    Collector collector = new Collector();
    for (IItemIterable ofOneType : items.apply(ItemFilters.type(collector.types()))) {
      String type = ofOneType.getType().getIdentifier();
      Map<String, IMemberAccessor<?, IItem>> fields = ItemEvent.fields(ofOneType.getType());
      for (IItem item : ofOneType) {
        collector.take(type, new ItemEvent(item, fields));
      }
    }
    return collector.recording(NAME);
  }

  /**
   * Escapes text of a recording for Mission Control, which shows HTML and substitutes text in
   * braces.
   */
  private static String html(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("{", "&#123;")
        .replace("}", "&#125;");
  }
}
