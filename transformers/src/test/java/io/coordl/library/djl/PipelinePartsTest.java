package io.coordl.library.djl;

import static net.bytebuddy.matcher.ElementMatchers.named;
import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.modality.cv.transform.CenterCrop;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.dataset.BatchSampler;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.training.dataset.SequenceSampler;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Pipeline;
import ai.djl.translate.StackBatchifier;
import ai.djl.translate.Transform;
import ai.djl.util.Progress;
import io.coordl.coordination.BatchOrder;
import io.coordl.coordination.Fingerprint;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.implementation.FixedValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** If the batches of two jobs may differ, a message names exactly what differs. */
class PipelinePartsTest {
  /** The settings of a job; each method returns a copy with one of them changed. */
  private record Job(
      Path folder, int items, int batchSize, DataType type, String labels, Transform transform) {
    static final Job USUAL =
        new Job(Path.of("/data/train"), 20, 4, DataType.FLOAT32, "names", new Resize(8, 8));

    Job folder(String other) {
      return new Job(Path.of(other), items, batchSize, type, labels, transform);
    }

    Job items(int other) {
      return new Job(folder, other, batchSize, type, labels, transform);
    }

    Job batchSize(int other) {
      return new Job(folder, items, other, type, labels, transform);
    }

    Job type(DataType other) {
      return new Job(folder, items, batchSize, other, labels, transform);
    }

    Job labels(String other) {
      return new Job(folder, items, batchSize, type, other, transform);
    }

    Job transform(Transform other) {
      return new Job(folder, items, batchSize, type, labels, other);
    }
  }

  private record Change(String what, Job other, String expected) {
    @Override
    public String toString() {
      return what;
    }
  }

  static Stream<Change> changes() {
    Job usual = Job.USUAL;
    String numbers = Numbers.class.getName();
    return Stream.of(
        new Change("folder", usual.folder("/data/other"), "it differs in its content: " + numbers),
        new Change(
            "size of the data set",
            usual.items(24),
            "it differs in its number of items: 24, not 20"),
        new Change("batch size", usual.batchSize(5), "it differs in its batch size: 5, not 4"),
        new Change(
            "data type", usual.type(DataType.UINT8), "it differs in its content: " + numbers),
        new Change("label source", usual.labels("file"), "it differs in its content: " + numbers),
        new Change(
            "transform",
            usual.transform(new CenterCrop(8, 8)),
            "it differs in its transforms: [CenterCrop(width=8, height=8), ToTensor], not"
                + " [Resize(width=8, height=8"),
        new Change(
            "setting of a transform",
            usual.transform(new Resize(8, 9)),
            "it differs in its transforms: [Resize(width=8, height=9"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("changes")
  void differenceIsNamed(Change change) throws Exception {
    Fingerprint usual = parts(Job.USUAL);
    Fingerprint other = parts(change.other());
    assertThat(other).isNotEqualTo(usual);
    assertThat(other.difference(usual)).startsWith(change.expected());
    assertThat(usual.difference(other)).isNotNull();
  }

  @Test
  void labelTransformsAreNamed() throws Exception {
    Fingerprint plain = parts(Job.USUAL, new Pipeline());
    Fingerprint other = parts(Job.USUAL, new Pipeline(new ToTensor()));
    assertThat(other.difference(plain))
        .isEqualTo("it differs in its label transforms: [ToTensor], not []");
  }

  @Test
  void positionWithinTheContentIsNamed() throws Exception {
    assertThat(parts(Job.USUAL.folder("/data/other")).difference(parts(Job.USUAL)))
        .contains("folder=\"/data/other\"", "folder=\"/data/train\"");
    assertThat(parts(Job.USUAL.type(DataType.UINT8)).difference(parts(Job.USUAL)))
        .contains("type=UINT8", "type=FLOAT32");
    assertThat(parts(Job.USUAL.labels("file")).difference(parts(Job.USUAL)))
        .contains("labels=\"file\"", "labels=\"names\"");
  }

  @Test
  void equalJobsHaveEqualParts() throws Exception {
    Job usual = Job.USUAL;
    assertThat(parts(usual.transform(new Resize(8, 8)))).isEqualTo(parts(usual));
    assertThat(parts(usual).difference(parts(usual))).isNull();
  }

  private static Fingerprint parts(Job job) throws Exception {
    return parts(job, new Pipeline());
  }

  private static Fingerprint parts(Job job, Pipeline labelTransforms) throws Exception {
    Engine engine =
        new ByteBuddy()
            .subclass(Engine.class)
            .method(named("getEngineName").or(named("getVersion")))
            .intercept(FixedValue.value("fixed"))
            .make()
            .load(PipelinePartsTest.class.getClassLoader())
            .getLoaded()
            .getConstructor()
            .newInstance();
    NDManager manager =
        (NDManager)
            Proxy.newProxyInstance(
                PipelinePartsTest.class.getClassLoader(),
                new Class<?>[] {NDManager.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "getEngine" -> engine;
                      case "getDevice" -> Device.cpu();
                      case "newSubManager" -> proxy;
                      case "setName" -> null;
                      default -> throw new UnsupportedOperationException(method.getName());
                    });
    Batchifier stack = new StackBatchifier();
    BatchSampler sampler = new BatchSampler(new SequenceSampler(), job.batchSize());
    DataIterable iterable =
        new DataIterable(
            new Numbers(job),
            manager,
            sampler,
            stack,
            stack,
            new Pipeline(job.transform(), new ToTensor()),
            labelTransforms,
            null,
            0,
            null);
    BatchOrder order =
        BatchOrder.evenly(IntStream.range(0, job.items()).toArray(), job.batchSize());
    return PipelineParts.of(new IterableFields(), iterable, "a sampler", order);
  }

  /** Only its description is used. */
  @SuppressWarnings("unused") // Its fields are described.
  private static final class Numbers extends RandomAccessDataset {
    private final Path folder;
    private final DataType type;
    private final String labels;
    private final int items;

    Numbers(Job job) {
      super(new Builder().setSampling(job.batchSize(), false));
      folder = job.folder();
      type = job.type();
      labels = job.labels();
      items = job.items();
    }

    @Override
    public Record get(NDManager manager, long index) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected long availableSize() {
      return items;
    }

    @Override
    public void prepare(Progress progress) {}

    private static final class Builder extends BaseBuilder<Builder> {
      @Override
      protected Builder self() {
        return this;
      }
    }
  }
}
