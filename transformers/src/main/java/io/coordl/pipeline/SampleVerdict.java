package io.coordl.pipeline;

import io.coordl.purity.PurityAnalyzer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Whether {@code prepared=share} can cache the samples of a pipeline and {@code prefetch=N} can
 * prepare them ahead, or could if they were on.
 *
 * @param source class of the data set
 * @param stages number of the pipeline's stages
 * @param kept number of leading stages whose results can be cached
 * @param reason why the next stage cannot be cached; empty if all can
 * @param vouch name of the program's class whose samples could be cached if the user declared it
 *     deterministic; empty if that would not help
 * @param notAhead why batches cannot be prepared ahead; empty if they can; null if unknown
 */
public record SampleVerdict(
    String source, int stages, int kept, String reason, String vouch, @Nullable String notAhead) {
  /** Reasons for which the samples differ between epochs, so that vouching would be wrong. */
  private static final Pattern DIFFERS =
      Pattern.compile(
          "[Rr]andom(?!AccessFile)|draws|currentTimeMillis|nanoTime|java\\.time\\.(?!format\\.)");

  public boolean isKept() {
    return kept > 0;
  }

  /**
   * Returns the agent argument that declares {@link #vouch}; empty if it is not needed, of no use,
   * or wrong.
   */
  public String remedy() {
    return isKept() || vouch.isEmpty() || DIFFERS.matcher(reason).find()
        ? ""
        : "prepared=share:" + vouch;
  }

  /**
   * Proves the stages of a pipeline.
   *
   * @param stages the program's objects of each stage
   * @param code a new analyzer, because it has state; what it refuses cannot run early, either
   * @param early a new analyzer that decides what may run early
   * @param library common prefix of the names of the library's classes
   */
  public static SampleVerdict of(
      String source,
      List<List<@Nullable Object>> stages,
      PurityAnalyzer code,
      PurityAnalyzer early,
      String library) {
    List<@Nullable Object> all = new ArrayList<>();
    for (int stage = 0; stage < stages.size(); stage++) {
      all.addAll(stages.get(stage));
      String reason = code.prove(all).reason();
      if (reason != null) {
        return new SampleVerdict(
            source, stages.size(), stage, reason, vouch(stages.get(stage), library), reason);
      }
    }
    if (stages.isEmpty()) {
      return new SampleVerdict(
          source, 0, 0, "it keeps objects whose changes would go unnoticed", "", null);
    }
    String notAhead = Objects.requireNonNullElse(early.prove(all).reason(), "");
    return new SampleVerdict(source, stages.size(), stages.size(), "", "", notAhead);
  }

  private static String vouch(List<@Nullable Object> stage, String library) {
    return stage.stream()
        .filter(Objects::nonNull)
        .map(object -> object.getClass().getName())
        .filter(name -> !name.startsWith(library) && !name.startsWith("java."))
        .findFirst()
        .orElse("");
  }
}
