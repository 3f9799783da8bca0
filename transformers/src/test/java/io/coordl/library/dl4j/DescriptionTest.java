package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.pipeline.CannotShareException;
import java.awt.Color;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Array;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;

/** Objects have equal descriptions only if they behave alike; some cannot be described. */
class DescriptionTest {
  /** A typical class of a program. */
  @SuppressWarnings("unused") // Its fields are read by their names.
  private static class Crop {
    final int size;
    final Map<String, List<double[]>> weights = new HashMap<>();
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

  private static String words(Object object) throws CannotShareException {
    return Description.of("thing", object);
  }

  @Test
  void fieldsAreDescribedButRandomGeneratorsAreNot() throws CannotShareException {
    String words = words(new Crop(3));
    assertThat(words(new Crop(3))).isEqualTo(words);
    assertThat(words).contains("size=3").contains("Crop ").contains("more=none");
    assertThat(words(new Crop(4))).isNotEqualTo(words);
    assertThat(words(new Turn(3))).isNotEqualTo(words);
  }

  @Test
  void nestedContentsAreDescribed() throws CannotShareException {
    Crop one = new Crop(3);
    one.weights.put("a", List.of(new double[] {1, 2}));
    one.weights.put("b", List.of());
    Crop other = new Crop(3);
    other.weights.put("b", List.of());
    other.weights.put("a", List.of(new double[] {1, 2}));
    assertThat(words(other)).isEqualTo(words(one));
    other.weights.put("a", List.of(new double[] {1, 3}));
    assertThat(words(other)).isNotEqualTo(words(one));
  }

  @Test
  void orderOfOrderedCollectionsMatters() throws CannotShareException {
    Map<String, Integer> map = new LinkedHashMap<>(Map.of("a", 1));
    Map<String, Integer> turned = new LinkedHashMap<>(Map.of("b", 2));
    map.put("b", 2);
    turned.put("a", 1);
    for (UnaryOperator<Map<String, Integer>> as :
        List.<UnaryOperator<Map<String, Integer>>>of(
            given -> given, LinkedHashMap::new, Collections::unmodifiableMap)) {
      assertThat(words(as.apply(turned))).isNotEqualTo(words(as.apply(map)));
    }
    assertThat(words(new LinkedHashMap<>(map))).isEqualTo(words(map));
    assertThat(words(new LinkedHashSet<>(List.of(1, 2))))
        .isNotEqualTo(words(new LinkedHashSet<>(List.of(2, 1))));
    assertThat(words(Map.of("a", 1, "b", 2))).isEqualTo(words(Map.of("b", 2, "a", 1)));
  }

  /** Equal unordered maps may differ in their iteration order, on which a batch may depend. */
  @Test
  void iterationOrderMattersForKeptBatches() throws CannotShareException {
    Map<String, Integer> map = new HashMap<>(Map.of("Aa", 1));
    Map<String, Integer> turned = new HashMap<>(Map.of("BB", 2)); // Its hash code is that of "Aa".
    map.put("BB", 2);
    turned.put("Aa", 1);
    assertThat(words(turned)).isEqualTo(words(map));
    assertThat(Description.ofCodeInput("thing", turned))
        .isNotEqualTo(Description.ofCodeInput("thing", map));
    assertThat(Description.ofCodeInput("thing", turned.keySet().toArray()))
        .isNotEqualTo(Description.ofCodeInput("thing", map.keySet().toArray()));
    assertThat(Description.ofCodeInput("thing", new HashMap<>(map)))
        .isEqualTo(Description.ofCodeInput("thing", map));
  }

  record Pair(@Nullable Object one, @Nullable Object two) {}

  @Test
  void differentObjectsHaveDifferentDescriptions() throws CannotShareException {
    List<Object> all =
        List.of(
            List.of("a, b"),
            List.of("a", "b"),
            List.of("a\", \"b"),
            new ArrayList<>(List.of("a", "b")),
            new LinkedHashSet<>(List.of("a", "b")),
            new String[] {"a", "b"},
            new TreeMap<>(Map.of("a", 1)),
            new TreeMap<>(Map.of("a", 1L)),
            new TreeMap<>(String.CASE_INSENSITIVE_ORDER),
            new TreeMap<>(),
            new int[] {1},
            new long[] {1},
            new float[] {1},
            new Pair("a, two=b", "c"),
            new Pair("a", "b, two=c"),
            new Pair(null, 1),
            new Pair("none", 1),
            new Pair(null, 1L),
            new Pair(null, "1"),
            new Pair(null, 1f),
            new Pair(null, 1d),
            new Pair(null, true),
            new Pair(null, "true"),
            new Pair(null, 't'),
            new Pair(null, "t"),
            new Pair(null, TimeUnit.DAYS),
            new Pair(null, ChronoUnit.DAYS),
            new Pair(null, "DAYS"),
            new Pair(null, Path.of("/a")),
            new Pair(null, new File("/a")),
            new Pair(null, "/a"),
            new Pair(null, Optional.of("a")),
            new Pair(null, List.of("a")),
            new Pair(null, String.class),
            new Pair(null, "java.lang.String"));
    Map<String, Object> seen = new HashMap<>();
    for (Object one : all) {
      assertThat(seen.put(words(one), one)).as(words(one)).isNull();
    }
  }

  @Test
  void pathOutsideTheDefaultFileSystemIsRefused(@TempDir Path folder) throws IOException {
    try (FileSystem zip =
        FileSystems.newFileSystem(folder.resolve("a.zip"), Map.of("create", "true"))) {
      assertThatThrownBy(() -> words(zip.getPath("/table")))
          .isInstanceOf(CannotShareException.class)
          .hasMessageContaining("a path that is not on the host's file system");
    }
  }

  @Test
  void everyElementOfALargeArrayMatters() throws CannotShareException {
    for (Object array :
        List.of(new byte[3000], new int[3000], new long[3000], new float[3000], new double[3000])) {
      String words = words(array);
      assertThat(words).hasSizeLessThan(100).startsWith(array.getClass().getComponentType() + "");
      for (int i : new int[] {0, 1023, 1024, 2999}) {
        Array.setByte(array, i, (byte) 1);
        assertThat(words(array)).isNotEqualTo(words);
        Array.setByte(array, i, (byte) 0);
        assertThat(words(array)).isEqualTo(words);
      }
    }
    assertThat(words(new float[3001])).isNotEqualTo(words(new float[3000]));
  }

  @Test
  void selfReferenceIsDescribed() throws CannotShareException {
    Crop crop = new Crop(1);
    crop.more = crop;
    assertThat(words(crop)).contains("more=#0");
  }

  /** An anonymous class's file does not contain the captured values. */
  private static Object dividesBy(double by) {
    return new Object() {
      @Override
      public String toString() {
        return "divides by " + by;
      }
    };
  }

  @Test
  void capturesOfAnAnonymousClassMatter() throws CannotShareException {
    assertThat(words(dividesBy(2))).isEqualTo(words(dividesBy(2)));
    assertThat(words(dividesBy(3))).isNotEqualTo(words(dividesBy(2)));
  }

  @Test
  void jdkObjectsAreDescribedOrRefused() throws CannotShareException {
    Crop one = new Crop(1);
    Crop other = new Crop(1);
    one.more = Pattern.compile("a");
    other.more = Pattern.compile("b");
    assertThat(words(other)).isNotEqualTo(words(one));
    other.more = Pattern.compile("a");
    assertThat(words(other)).isEqualTo(words(one));
    one.more = Optional.of(1);
    other.more = Optional.of(2);
    assertThat(words(other)).isNotEqualTo(words(one));
    one.more = new ByteArrayInputStream(new byte[1]);
    assertThatThrownBy(() -> words(one))
        .isInstanceOf(CannotShareException.class)
        .hasMessageContaining("java.io.ByteArrayInputStream");
  }

  @Test
  void tooManyObjectsAreRefused() {
    Crop crop = new Crop(1);
    crop.more = IntStream.range(0, 20_000).mapToObj(Crop::new).toList();
    assertThatThrownBy(() -> words(crop))
        .isInstanceOf(CannotShareException.class)
        .hasMessageContaining("more than 10000 objects");
  }

  @Test
  void lambdasThatCannotBeToldApartAreRefused() {
    Crop crop = new Crop(1);
    Supplier<String> lambda = () -> "a";
    Supplier<String> other = () -> "b";
    for (Supplier<String> one : List.of(lambda, other)) {
      crop.more = one;
      assertThatThrownBy(() -> words(crop))
          .isInstanceOf(CannotShareException.class)
          .hasMessageContaining("lambdas of " + DescriptionTest.class.getName());
    }
  }

  @Test
  void libraryPreprocessorHasAShortDescription() throws CannotShareException {
    assertThat(words(new ImagePreProcessingScaler(0, 1)))
        .startsWith("ImagePreProcessingScaler(minRange=0.0, maxRange=1.0")
        .doesNotContain("org.nd4j");
    assertThat(words(new ImagePreProcessingScaler(-1, 1)))
        .isNotEqualTo(words(new ImagePreProcessingScaler(0, 1)));
  }

  @Test
  void longTextIsCutAndStillDiffers() throws CannotShareException {
    String many = "class ".repeat(100);
    assertThat(words(many)).hasSizeLessThan(400).contains(".. with checksum ");
    assertThat(words(many + "a")).isNotEqualTo(words(many + "b"));
  }

  /** A user's transform with a static setting. */
  @SuppressWarnings("UnusedVariable") // They are described.
  private static final class Brightened {
    static float strength = 0.1f;
    final File masks = new File("masks");
  }

  @Test
  void staticFieldsAndWorkingDirectoryAreDescribed() throws CannotShareException {
    String weak = words(new Brightened());
    Brightened.strength = 0.2f;
    assertThat(words(new Brightened()))
        .contains("strength=0.2")
        .contains("masks=\"masks\" in \"" + new File("masks").getAbsolutePath() + "\"")
        .isNotEqualTo(weak);
  }

  /** Equal or similar texts do not hide a difference that code can see. */
  @Test
  void objectsThatCodeCanTellApartHaveDifferentDescriptions() throws CannotShareException {
    File file = new File("masks");
    assertThat(text(new Color(1, 2, 3, 10))).isNotEqualTo(text(new Color(1, 2, 3, 200)));
    assertThat(text(new Color(1, 2, 3, 10))).isEqualTo(text(new Color(1, 2, 3, 10)));
    assertThat(text(new Locale("", "", "WIN"))).isNotEqualTo(text(new Locale("", "", "MAC")));
    assertThat(text(file)).isNotEqualTo(text(file.getAbsoluteFile()));
    assertThat(text(file.toPath())).isNotEqualTo(text(file.toPath().toAbsolutePath()));
  }

  private static String text(Object part) throws CannotShareException {
    return Description.of("part", part);
  }
}
