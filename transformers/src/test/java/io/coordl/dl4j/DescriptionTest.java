package io.coordl.dl4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.pipeline.CannotShareException;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;

/** Equal words for objects that do the same, others for those that do not. */
class DescriptionTest {
  /** As a program may write it. */
  @SuppressWarnings("unused") // Its fields are read by their names.
  private static class Crop {
    final int size;
    final Map<String, List<double[]>> weights = new LinkedHashMap<>();
    final Random random = new Random();
    @Nullable Object more;

    Crop(int size) {
      this.size = size;
    }
  }

  /** Does something else. */
  private static final class Turn extends Crop {
    Turn(int size) {
      super(size);
    }
  }

  @Test
  void fieldsCountAndRandomGeneratorsDoNot() throws CannotShareException {
    String words = Description.of(new Crop(3));
    assertThat(Description.of(new Crop(3))).isEqualTo(words);
    assertThat(words).contains("size=3").contains("Crop(class file ").contains("more=none");
    assertThat(Description.of(new Crop(4))).isNotEqualTo(words);
    assertThat(Description.of(new Turn(3))).isNotEqualTo(words);
  }

  @Test
  void whatIsInsideCountsToo() throws CannotShareException {
    Crop one = new Crop(3);
    one.weights.put("a", List.of(new double[] {1, 2}));
    one.weights.put("b", List.of());
    Crop other = new Crop(3);
    other.weights.put("b", List.of());
    other.weights.put("a", List.of(new double[] {1, 2}));
    assertThat(Description.of(other)).isEqualTo(Description.of(one));
    other.weights.put("a", List.of(new double[] {1, 3}));
    assertThat(Description.of(other)).isNotEqualTo(Description.of(one));
  }

  @Test
  void whatContainsItselfIsDescribed() throws CannotShareException {
    Crop crop = new Crop(1);
    crop.more = crop;
    assertThat(Description.of(crop)).contains("more=...");
  }

  /** What an anonymous class captures is not in its class file. */
  private static Object dividesBy(double by) {
    return new Object() {
      @Override
      public String toString() {
        return "divides by " + by;
      }
    };
  }

  @Test
  void whatAnAnonymousClassCapturesCounts() throws CannotShareException {
    assertThat(Description.of(dividesBy(2))).isEqualTo(Description.of(dividesBy(2)));
    assertThat(Description.of(dividesBy(3))).isNotEqualTo(Description.of(dividesBy(2)));
  }

  @Test
  void whatTheJdkHasInsideCountsOrIsUnclear() throws CannotShareException {
    Crop one = new Crop(1);
    Crop other = new Crop(1);
    one.more = Pattern.compile("a");
    other.more = Pattern.compile("b");
    assertThat(Description.of(other)).isNotEqualTo(Description.of(one));
    other.more = Pattern.compile("a");
    assertThat(Description.of(other)).isEqualTo(Description.of(one));
    one.more = Optional.of(1);
    other.more = Optional.of(2);
    assertThat(Description.of(other)).isNotEqualTo(Description.of(one));
    one.more = new ByteArrayInputStream(new byte[1]);
    assertThatThrownBy(() -> Description.of(one))
        .isInstanceOf(CannotShareException.class)
        .hasMessageContaining("java.io.ByteArrayInputStream");
  }

  @Test
  void whatRefersToVeryManyObjectsIsUnclear() {
    Crop first = new Crop(1);
    Crop last = first;
    for (int i = 0; i < 8; i++) {
      Crop next = new Crop(i);
      last.more = Collections.nCopies(10, next);
      last = next;
    }
    assertThatThrownBy(() -> Description.of(first)).isInstanceOf(CannotShareException.class);
  }

  @Test
  void aLambdaCannotBeTold() {
    Crop crop = new Crop(1);
    Supplier<String> lambda = () -> "a";
    crop.more = lambda;
    assertThatThrownBy(() -> Description.of(crop))
        .isInstanceOf(CannotShareException.class)
        .hasMessageContaining("lambdas (" + DescriptionTest.class.getName());
  }

  @Test
  void aPreprocessorOfTheLibraryIsShort() throws CannotShareException {
    assertThat(Description.of(new ImagePreProcessingScaler(0, 1)))
        .startsWith("ImagePreProcessingScaler(minRange=0.0, maxRange=1.0")
        .doesNotContain("class file");
    assertThat(Description.of(new ImagePreProcessingScaler(-1, 1)))
        .isNotEqualTo(Description.of(new ImagePreProcessingScaler(0, 1)));
  }

  @Test
  void aLongTextIsCutAndKeepsItsDifferences() throws CannotShareException {
    String many = "class ".repeat(100);
    assertThat(Description.of(many)).hasSizeLessThan(200).contains("... with checksum ");
    assertThat(Description.of(many + "a")).isNotEqualTo(Description.of(many + "b"));
  }

  /** A user's transform with a setting for all of them. */
  @SuppressWarnings("UnusedVariable") // Described.
  private static final class Brightened {
    static float strength = 0.1f;
    final File masks = new File("masks");
  }

  @Test
  void whatDependsOnTheJobsPropertiesAndDirectoryCounts() throws CannotShareException {
    String weak = Description.of(new Brightened());
    Brightened.strength = 0.2f;
    assertThat(Description.of(new Brightened()))
        .contains("strength=0.2")
        .contains("masks=" + new File("").getAbsolutePath())
        .isNotEqualTo(weak);
  }
}
