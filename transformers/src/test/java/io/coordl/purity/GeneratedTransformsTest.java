package io.coordl.purity;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.purity.GeneratedTransforms.Generated;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hundreds of transforms that are pure or impure by construction. */
class GeneratedTransformsTest {
  private static final int COUNT = Boolean.getBoolean("coordl.full") ? 2_400 : 600;

  /**
   * Analyzes for a caller that, before relying on a proof, compares the fields that other code may
   * set.
   */
  private static final PurityAnalyzer COMPARING =
      new PurityAnalyzer("org.jspecify.", new PurityAnalyzerTest.Everything(true));

  @TempDir Path directory;
  private int compared;

  @Test
  void noImpureTransformIsAcceptedAndNearlyEveryPureOneIs() throws Exception {
    List<Generated> all = new GeneratedTransforms(20).into(directory, COUNT);
    List<String> taken = new ArrayList<>();
    List<String> refused = new ArrayList<>();
    int pure = 0;
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {directory.toUri().toURL()}, getClass().getClassLoader())) {
      for (Generated one : all) {
        Class<?> type = loader.loadClass(one.className());
        Object transform = type.getDeclaredConstructor().newInstance();
        String reason = PurityAnalyzerTest.CODE.reasonToLeave(List.of(transform));
        check(type, transform, one, taken);
        pure += one.pure() ? 1 : 0;
        if (one.pure() && reason != null) {
          refused.add(one + ": " + reason);
        } else if (!one.pure() && reason == null) {
          taken.add(one.toString());
        } else if (reason != null) {
          assertThat(reason)
              .as(one.toString())
              .contains("generated.")
              .doesNotContain("cannot be analysed");
        }
      }
    }
    assertThat(compared).as("proven while nothing changes").isGreaterThan(COUNT / 20);
    assertThat(taken).as("impure, and taken for pure").isEmpty();
    assertThat(refused).as("pure, and refused, of " + pure).hasSizeLessThan(pure / 10);
  }

  /** If an impure transform is accepted while fields keep their values, changes must be noticed. */
  private void check(Class<?> type, Object transform, Generated one, List<String> taken)
      throws ReflectiveOperationException {
    PurityAnalyzer.Proof proof = COMPARING.prove(List.of(transform));
    if (one.pure() || proof.reason() != null) {
      return;
    }
    assertThat(proof.values().areSame()).as(one.toString()).isTrue();
    Locale before = Locale.getDefault();
    try {
      type.getMethod("change", type).invoke(null, transform);
      compared++;
      if (proof.values().areSame()) {
        taken.add(one + ", whose change is not seen");
      }
    } finally {
      Locale.setDefault(before);
    }
  }
}
