package io.coordl.purity;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.purity.library.Named;
import io.coordl.purity.library.Renamed;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A proof that relies on the values of fields holds only while they stay the same. */
class FieldValuesTest {
  private static final PurityAnalyzer CODE =
      new PurityAnalyzer("org.jspecify.", new PurityAnalyzerTest.Everything(true));

  /** A typical transform. */
  static class Scaled implements PurityAnalyzerTest.Part {
    float factor = 2;
    protected List<float[]> rows = new ArrayList<>(List.of(new float[] {1, 2}));
    public Map<String, Integer> names = new TreeMap<>(Map.of("a", 0));
    static String unit = "m";

    @Override
    public float apply(float value) {
      return value * factor * rows.get(0)[names.get("a")] + unit.length();
    }
  }

  private static FieldValues proven(Object part) {
    PurityAnalyzer.Proof proof = CODE.prove(List.of(part));
    assertThat(proof.reason()).isNull();
    assertThat(proof.values().areSame()).isTrue();
    return proof.values();
  }

  @Test
  void changedFieldEndsTheProofAndItsOldValueRestoresIt() {
    Scaled part = new Scaled();
    FieldValues values = proven(part);

    part.factor = 3;
    assertThat(values.areSame()).isFalse();
    part.factor = 2;
    assertThat(values.areSame()).isTrue();
    Scaled.unit = "km";
    assertThat(values.areSame()).isFalse();
    Scaled.unit = "m";
  }

  @Test
  void elementsOfCollectionsAreCompared() {
    Scaled part = new Scaled();
    FieldValues values = proven(part);

    part.rows.get(0)[1] = 3;
    assertThat(values.areSame()).isFalse();
    part.rows.get(0)[1] = 2;
    assertThat(values.areSame()).isTrue();
    part.names.put("b", 1);
    assertThat(values.areSame()).isFalse();
    part.names.remove("b");
    part.rows.add(new float[0]);
    assertThat(values.areSame()).isFalse();
  }

  /** The field is set by reflection, from a class that is not loaded until after the proof. */
  @Test
  void fieldSetByALaterClassIsSeen() throws ReflectiveOperationException {
    Scaled part = new Scaled();
    FieldValues values = proven(part);

    Class<?> later = Class.forName(getClass().getName() + "$Later");
    later.getDeclaredMethod("set", Scaled.class).invoke(null, part);
    assertThat(values.areSame()).isFalse();
  }

  static final class Later {
    static void set(Scaled part) throws ReflectiveOperationException {
      Scaled.class.getDeclaredField("factor").setFloat(part, 5);
    }
  }

  /** Returns the bits of NaNs. */
  static final class OfNaNs implements PurityAnalyzerTest.Part {
    float one = Float.intBitsToFloat(0x7fc00001);
    double[] more = {Double.longBitsToDouble(0x7ff8000000000001L)};

    @Override
    public float apply(float value) {
      return Float.floatToRawIntBits(one) + Double.doubleToRawLongBits(more[0]);
    }
  }

  @Test
  void nanIsComparedByItsBits() {
    OfNaNs part = new OfNaNs();
    FieldValues values = proven(part);

    part.one = Float.intBitsToFloat(0x7fc00002);
    assertThat(values.areSame()).isFalse();
    part.one = Float.intBitsToFloat(0x7fc00001);
    assertThat(values.areSame()).isTrue();
    part.more[0] = Double.longBitsToDouble(0x7ff8000000000002L);
    assertThat(values.areSame()).isFalse();
  }

  /** No class of the nest changes the private field. */
  @Test
  void privateFieldSetByReflectionIsSeen() throws ReflectiveOperationException {
    Settled part = new Settled();
    FieldValues values = proven(part);

    Field field = Settled.class.getDeclaredField("factor");
    field.setAccessible(true);
    field.setFloat(part, 3);
    assertThat(values.areSame()).isFalse();
  }

  /** A lambda of the transform sets the field that the transform reads. */
  static final class Toggled implements PurityAnalyzerTest.Part {
    boolean odd;

    @Override
    public float apply(float value) {
      Runnable next = () -> odd = !odd;
      next.run();
      return odd ? value : -value;
    }
  }

  @Test
  void fieldSetByAnalysedCodeIsRefused() {
    assertThat(CODE.reasonToLeave(List.of(new Toggled()))).contains("sets its field odd");
  }

  /** Holds more values than are worth comparing for each batch. */
  static final class Large implements PurityAnalyzerTest.Part {
    float[] factors = new float[1 << 20];

    @Override
    public float apply(float value) {
      return value * factors[1];
    }
  }

  @Test
  void tooManyValuesAreRefused() {
    assertThat(CODE.reasonToLeave(List.of(new Large())))
        .contains("Large.factors, an array that other code may change");
  }

  private record Library(boolean comparesFields) implements PurityAnalyzer.Known {
    @Override
    public boolean isClosed(Class<?> type) {
      return false;
    }

    @Override
    public boolean isKnown(String owner, String method) {
      return true;
    }
  }

  static final class OfNamed implements PurityAnalyzerTest.Part {
    private final Named named = new Named("a");

    @Override
    public float apply(float value) {
      return value + named.name().length();
    }
  }

  static final class OfRenamed implements PurityAnalyzerTest.Part {
    private final Renamed renamed = new Renamed("a");

    @Override
    public float apply(float value) {
      float length = renamed.name().length();
      Renamed.Renamer.rename(renamed);
      return value + length;
    }
  }

  /** A known method of a library may set a field of the library. */
  @Test
  void libraryFieldIsComparedOnlyIfJustItsConstructorSetsIt() {
    PurityAnalyzer comparing = new PurityAnalyzer("io.coordl.purity.library.", new Library(true));
    PurityAnalyzer code = new PurityAnalyzer("io.coordl.purity.library.", new Library(false));

    assertThat(comparing.prove(List.of(new OfNamed())).reason()).isNull();
    assertThat(comparing.prove(List.of(new OfNamed())).values().isEmpty()).isFalse();
    assertThat(code.reasonToLeave(List.of(new OfNamed()))).contains("Named.name, which is neither");
    assertThat(comparing.reasonToLeave(List.of(new OfRenamed())))
        .contains("Renamed.title, which is neither");
  }
}

/** A class outside the nest of the test. */
final class Settled implements PurityAnalyzerTest.Part {
  private float factor = 2;

  @Override
  public float apply(float value) {
    return value * factor;
  }
}
