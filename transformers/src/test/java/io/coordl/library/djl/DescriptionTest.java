package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Transform;
import io.coordl.pipeline.CannotShareException;
import java.io.File;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Objects have equal descriptions only if they behave alike; some cannot be described. */
class DescriptionTest {
  /** A user's transform. */
  private static final class Scaled implements Transform {
    private final float factor;
    private final Random random = new Random();

    Scaled(float factor) {
      this.factor = factor;
    }

    @Override
    public NDArray transform(NDArray array) {
      return array.mul(random.nextFloat() * factor);
    }
  }

  /** Creates the only lambda for {@code UnaryOperator} in this test class. */
  private static final class OneLambda {
    static UnaryOperator<String> suffix(String end) {
      return text -> text + end;
    }
  }

  private static String words(Object object) throws CannotShareException {
    return Description.of("thing", object);
  }

  @Test
  void pipelineListsTransformsWithTheirSettings() throws CannotShareException {
    Pipeline pipeline = new Pipeline(new RandomResizedCrop(48, 48), new ToTensor());
    assertThat(words(pipeline))
        .startsWith("[RandomResizedCrop(width=48, height=48, ")
        .endsWith("), ToTensor]");
    assertThat(words(new Pipeline(new RandomResizedCrop(48, 48), new ToTensor())))
        .isEqualTo(words(pipeline));
    assertThat(words(new Pipeline(new RandomResizedCrop(48, 47), new ToTensor())))
        .isNotEqualTo(words(pipeline));
    assertThat(words(new Pipeline(new ToTensor(), new RandomResizedCrop(48, 48))))
        .isNotEqualTo(words(pipeline));
    assertThat(words(new Pipeline().add(1, new ToTensor()))).isEqualTo("[1: ToTensor]");
  }

  @Test
  void userTransformIsDescribedByItsClassFileAndSettings() throws CannotShareException {
    assertThat(words(new Scaled(2)))
        .startsWith(Scaled.class.getName() + " ")
        .contains("factor=2.0")
        .isEqualTo(words(new Scaled(2)))
        .isNotEqualTo(words(new Scaled(3)));
    assertThat(words(new Normalize(new float[] {1}, new float[] {2})))
        .isEqualTo("Normalize(mean=[1.0], std=[2.0])");
  }

  @Test
  void longDescriptionEndsInAChecksumOfTheWhole() throws CannotShareException {
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < 30_000; i++) {
      files.add(Path.of("/data/picture-" + i + ".jpg"));
    }
    String whole = words(files);
    assertThat(whole).startsWith("ArrayList[path \"/data/picture-0.jpg\", ").hasSizeLessThan(400);
    files.set(29_999, Path.of("/data/other.jpg"));
    assertThat(words(files)).isNotEqualTo(whole);
    assertThat(words(new int[100_000])).isNotEqualTo(words(new int[100_001]));
  }

  @Test
  void onlyLambdaOfItsKindIsDescribed() throws CannotShareException {
    assertThat(words(OneLambda.suffix("a")))
        .startsWith("lambda of " + DescriptionTest.class.getName())
        .isEqualTo(words(OneLambda.suffix("a")))
        .isNotEqualTo(words(OneLambda.suffix("b")));
  }

  @Test
  void lambdasThatCannotBeToldApartAreRefused() {
    Transform one = array -> array;
    Transform two = array -> array.mul(2);
    for (Transform lambda : List.of(one, two)) {
      assertThatThrownBy(() -> words(new Pipeline(lambda)))
          .isInstanceOf(CannotShareException.class)
          .hasMessageContaining("lambdas of " + DescriptionTest.class.getName());
    }
  }

  @Test
  void openFileIsRefused(@TempDir Path directory) throws Exception {
    try (RandomAccessFile file = new RandomAccessFile(directory.resolve("a").toFile(), "rw")) {
      assertThatThrownBy(() -> words(file))
          .isInstanceOf(CannotShareException.class)
          .hasMessageContaining("RandomAccessFile");
    }
  }

  @Test
  void aListThatContainsItselfIsDescribed() throws CannotShareException {
    List<Object> ring = new ArrayList<>();
    ring.add(ring);
    assertThat(words(ring)).isEqualTo("ArrayList[#0]");
  }

  record Holder(Object place) {}

  @Test
  void patternIncludesItsFlags() throws CannotShareException {
    String words = Description.of("filter", new Holder(Pattern.compile("a.b")));
    assertThat(Description.of("filter", new Holder(Pattern.compile("a.b")))).isEqualTo(words);
    assertThat(Description.of("filter", new Holder(Pattern.compile("a.b", Pattern.DOTALL))))
        .isNotEqualTo(words);
  }

  @Test
  void relativePathIncludesTheWorkingDirectory() throws CannotShareException {
    String here = Path.of("").toAbsolutePath().toString();
    assertThat(Description.of("data", new Holder(Path.of("data")))).contains(here + "/data");
    assertThat(Description.of("data", new Holder(new File("data")))).contains(here + "/data");
    assertThat(Description.of("data", new Holder("pom.xml"))).contains("\"pom.xml\" in " + here);
    assertThat(Description.of("data", new Holder("no file"))).doesNotContain(here);
  }

  /** Depends on a property that the job was started with. */
  private enum Level {
    LOW,
    HIGH;
    private final int height = Integer.getInteger("height", 1);
  }

  @Test
  void enumConstantIsDescribedByItsNameAndFields() throws CannotShareException {
    assertThat(words(Level.LOW)).startsWith("Level LOW").contains("height=" + Level.LOW.height);
    assertThat(words(new Holder(Level.LOW))).isNotEqualTo(words(new Holder(Level.HIGH)));
    assertThat(words(DataType.UINT8)).isEqualTo("DataType UINT8");
  }

  @Test
  void programClassBelowDjlsPackageIsDescribedByItsClassFile() throws CannotShareException {
    assertThat(words(new ai.djl.examples.Scaled()))
        .startsWith("ai.djl.examples.Scaled ")
        .contains("factor=");
  }

  /** A user's transform with a static setting. */
  private static final class Brightened implements Transform {
    static float strength = 0.1f;

    @Override
    public NDArray transform(NDArray array) {
      return array.add(strength);
    }
  }

  @Test
  void staticFieldsAreDescribed() throws CannotShareException {
    String weak = words(new Brightened());
    Brightened.strength = 0.2f;
    assertThat(words(new Brightened())).contains("strength=0.2").isNotEqualTo(weak);
  }
}
