package example.prefetch;

import ai.djl.modality.cv.transform.Normalize;
import ai.djl.ndarray.NDArray;
import ai.djl.translate.Transform;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Transforms that read state that the training loop changes between batches. */
final class Changing {
  static float factor = 1;

  /** Whether the training loop is waiting for a batch. */
  static boolean batchRequested;

  private Changing() {}

  /** Settings that the training loop changes. */
  static final class Knobs {
    static volatile float factor = 1;
    float value = 1;
  }

  /** Changes the state that a transform reads, before a batch is requested. */
  interface Change {
    void to(int batch) throws IOException;
  }

  /** A transform, and the change of the state that it reads. */
  record Kind(String name, Transform transform, Change change) {}

  /** Returns one transform of each kind; one of them reads its factor from {@code file}. */
  static List<Kind> kinds(Path file) throws IOException {
    Knobs knobs = new Knobs();
    float[] factors = {1};
    float[] mean = {0, 0, 0};
    Files.writeString(file, "1");
    System.setProperty("example.factor", "1");
    return List.of(
        new Kind("static", new OfStatic(), batch -> factor = batch),
        new Kind("volatile", new OfVolatile(), batch -> Knobs.factor = batch),
        new Kind("object", new OfObject(knobs), batch -> knobs.value = batch),
        new Kind("array", new OfArray(factors), batch -> factors[0] = batch),
        new Kind(
            "property",
            new OfProperty(),
            batch -> System.setProperty("example.factor", "" + batch)),
        new Kind("file", new OfFile(file), batch -> rewrite(file, batch)),
        new Kind("turn", new OfTurn(), batch -> {}),
        new Kind(
            "normalize", new Normalize(mean, new float[] {1, 1, 1}), batch -> mean[0] = batch));
  }

  /** Rewrites the file as most programs do, so it is empty for a moment. */
  private static void rewrite(Path file, int number) throws IOException {
    Files.writeString(file, "");
    Files.writeString(file, "" + number);
  }

  static final class OfStatic implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.mul(factor);
    }
  }

  static final class OfVolatile implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.mul(Knobs.factor);
    }
  }

  record OfObject(Knobs knobs) implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.mul(knobs.value);
    }
  }

  static final class OfArray implements Transform {
    private final float[] factors;

    OfArray(float[] factors) {
      this.factors = factors;
    }

    @Override
    public NDArray transform(NDArray array) {
      return array.mul(factors[0]);
    }
  }

  static final class OfProperty implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.mul(Float.parseFloat(System.getProperty("example.factor")));
    }
  }

  record OfFile(Path file) implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      try {
        return array.mul(Float.parseFloat(Files.readString(file)));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Throws if it is called before the loop requests a batch. */
  static final class OfTurn implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      if (!batchRequested) {
        throw new IllegalStateException("called before the training loop requests a batch");
      }
      return array;
    }
  }
}
