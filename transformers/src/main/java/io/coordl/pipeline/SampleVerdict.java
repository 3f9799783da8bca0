package io.coordl.pipeline;

import io.coordl.purity.PurityAnalyzer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Whether {@code prepared=share} can cache the samples of a pipeline, or could if it were on.
 *
 * @param source class of the data set
 * @param stages number of the pipeline's stages
 * @param kept number of leading stages whose results can be cached
 * @param reason why the next stage cannot be cached; empty if all can
 * @param vouch name of the program's class whose samples could be cached if the user declared it
 *     deterministic; empty if that would not help
 */
public record SampleVerdict(String source, int stages, int kept, String reason, String vouch) {
  public boolean isKept() {
    return kept > 0;
  }

  /**
   * Returns the agent argument that declares {@link #vouch}; empty if it is not needed or of no
   * use.
   */
  public String remedy() {
    return isKept() || vouch.isEmpty() ? "" : "prepared=share:" + vouch;
  }

  /**
   * Proves the stages of a pipeline.
   *
   * @param stages the program's objects of each stage
   * @param code a new analyzer, because it has state
   * @param library common prefix of the names of the library's classes
   */
  public static SampleVerdict of(
      String source, List<List<@Nullable Object>> stages, PurityAnalyzer code, String library) {
    List<@Nullable Object> all = new ArrayList<>();
    for (int stage = 0; stage < stages.size(); stage++) {
      all.addAll(stages.get(stage));
      String reason = code.prove(all).reason();
      if (reason != null) {
        return new SampleVerdict(
            source, stages.size(), stage, reason, vouch(stages.get(stage), library));
      }
    }
    String reason = stages.isEmpty() ? "it keeps objects whose changes would go unnoticed" : "";
    return new SampleVerdict(source, stages.size(), stages.size(), reason, "");
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
