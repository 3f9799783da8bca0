package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.modality.cv.transform.CenterCrop;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.RandomFlipLeftRight;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ResizeShort;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.BatchSampler;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.training.dataset.SequenceSampler;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Transform;
import ai.djl.util.Progress;
import ai.djl.util.RandomUtils;
import io.coordl.bridge.ForkableRandom;
import io.coordl.pipeline.Prefetcher;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares the agent's cropped and resized batches with the library's, on the same engine. */
class AugmentedBatchTest {
  private final NDManager manager = NDManager.newBaseManager();
  private final Prefetcher threads = new Prefetcher(null, () -> 3);

  @AfterEach
  void end() {
    threads.close();
    manager.close();
  }

  /** Pictures of noise, of edges, and of one colour, in many sizes. */
  private static final class Pictures extends RandomAccessDataset {
    private final List<byte[]> pixels = new ArrayList<>();
    private final List<Shape> shapes = new ArrayList<>();

    Pictures(Random random, int count, int min, int max) {
      super(new NoBuilder().setSampling(1, false));
      for (int i = 0; i < count; i++) {
        Shape shape =
            new Shape(min + random.nextInt(max - min), min + random.nextInt(max - min), 3);
        byte[] values = new byte[(int) shape.size()];
        random.nextBytes(values);
        for (int j = 0; j < values.length; j++) {
          values[j] = i % 3 == 0 ? (byte) i : i % 3 == 1 && values[j] < 0 ? -1 : values[j];
        }
        pixels.add(values);
        shapes.add(shape);
      }
    }

    @Override
    public Record get(NDManager of, long index) {
      ByteBuffer values = of.allocateDirect(pixels.get((int) index).length);
      values.put(pixels.get((int) index)).rewind();
      NDArray picture = of.create(values, shapes.get((int) index), DataType.UINT8);
      return new Record(new NDList(picture), new NDList(of.create(index % 10)));
    }

    @Override
    protected long availableSize() {
      return pixels.size();
    }

    @Override
    public void prepare(Progress progress) {
      // Nothing to prepare.
    }

    private static final class NoBuilder extends BaseBuilder<NoBuilder> {
      @Override
      protected NoBuilder self() {
        return this;
      }
    }
  }

  private enum Chain {
    CROPS(new RandomResizedCrop(24, 20), new RandomFlipLeftRight()),
    ENLARGED(new RandomResizedCrop(130, 90)),
    RESIZED(new Resize(31, 17)),
    RESIZED_THEN_CROPPED(new ResizeShort(40), new CenterCrop(32, 32)),
    CROPPED_THEN_RESIZED(new CenterCrop(20, 16), new Resize(9, 33)),
    CROPPED(new CenterCrop(18, 21)),
    ONE_COLUMN(new Resize(1, 12));

    @SuppressWarnings("ImmutableEnumChecker") // The library's transforms never change.
    private final List<Transform> heads;

    Chain(Transform... heads) {
      this.heads = List.of(heads);
    }

    private List<Transform> with(Transform... tails) {
      return Stream.concat(heads.stream(), Stream.of(tails)).toList();
    }
  }

  private static final Normalize NORMALIZE =
      new Normalize(new float[] {.485f, .456f, .406f}, new float[] {.229f, .224f, .225f});

  private DataIterable iterable(RandomAccessDataset data, List<Transform> transforms) {
    return new DataIterable(
        data,
        manager,
        new BatchSampler(new SequenceSampler(), 1),
        Batchifier.STACK,
        Batchifier.STACK,
        new Pipeline(transforms.toArray(Transform[]::new)),
        null,
        null,
        0,
        null);
  }

  /** Returns the agent's batch; null if it is left to the program. */
  private @Nullable Batch ours(DataIterable iterable, List<Long> indices, boolean onHost)
      throws ReflectiveOperationException {
    IterableFields fields = new IterableFields();
    PicturePipeline pipeline = PicturePipeline.of(iterable, fields);
    assertThat(pipeline).isNotNull();
    while (pipeline.checked(1) >= 0) {
      // Skips the comparisons, because the library's generator cannot be forked here.
    }
    ForkableRandom unused = new ForkableRandom();
    try (AugmentedBatch batch =
        new AugmentedBatch(
            iterable,
            fields,
            pipeline,
            indices,
            unused,
            threads,
            new SampleStack(null, null),
            new ConcurrentLinkedQueue<>())) {
      return batch.tryMake(onHost) ? batch.take(7) : null;
    }
  }

  @Test
  void resamplerMatchesThisEngineBitForBit() {
    assertThat(ResamplerCheck.agrees(manager.getEngine())).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void batchMatchesTheLibrarysBitForBit(Chain chain) throws Exception {
    Random random = new Random(chain.name().hashCode());
    Pictures pictures = new Pictures(random, 40, 40, 90);
    int made = 0;
    for (int i = 0; i < 12; i++) {
      List<Transform> transforms =
          i % 2 == 0 ? chain.with(new ToTensor(), NORMALIZE) : chain.with(new ToTensor());
      List<Long> indices = random.longs(1 + i, 0, 40).boxed().toList();
      made += compare(iterable(pictures, transforms), indices, random.nextLong());
    }
    assertThat(made).isPositive();
  }

  /**
   * Compares the agent's batch, as made for the host and for a device, with the library's. Returns
   * 2, or 0 if the library's own call throws.
   */
  private int compare(DataIterable iterable, List<Long> indices, long seed) throws Exception {
    RandomUtils.RANDOM.setSeed(seed);
    try (Batch own = new IterableFields().fetch(iterable, indices, 7)) {
      int next = RandomUtils.nextInt();
      for (boolean onHost : new boolean[] {true, false}) {
        RandomUtils.RANDOM.setSeed(seed);
        try (Batch ours = ours(iterable, indices, onHost)) {
          if (!onHost
              && LongStream.of(own.getData().head().getShape().getShape()).anyMatch(n -> n == 1)) {
            assertThat(ours).isNull();
            continue;
          }
          assertThat(RandomUtils.nextInt()).as("the generator").isEqualTo(next);
          assertSame(ours, own);
        }
      }
      return 2;
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageContaining("different input shapes");
      RandomUtils.RANDOM.setSeed(seed);
      assertThat(ours(iterable, indices, true)).isNull();
      return 0;
    }
  }

  private static void assertSame(@Nullable Batch ours, Batch own) {
    assertThat(ours).isNotNull();
    assertThat(ours.getProgress()).isEqualTo(own.getProgress());
    assertThat(ours.getProgressTotal()).isEqualTo(own.getProgressTotal());
    assertThat(ours.getIndices()).isEqualTo(own.getIndices());
    assertSame(ours.getData(), own.getData());
    assertSame(ours.getLabels(), own.getLabels());
  }

  private static void assertSame(NDList ours, NDList own) {
    assertThat(ours).hasSameSizeAs(own);
    for (int i = 0; i < own.size(); i++) {
      assertThat(ours.get(i).getShape()).isEqualTo(own.get(i).getShape());
      assertThat(ours.get(i).getDataType()).isEqualTo(own.get(i).getDataType());
      assertThat(ours.get(i).getName()).isEqualTo(own.get(i).getName());
      assertThat(ours.get(i).toByteArray()).isEqualTo(own.get(i).toByteArray());
      assertThat(Strides.areDense(ours.get(i))).isEqualTo(Strides.areDense(own.get(i)));
    }
  }

  @Test
  void batchOfSeveralSampleSizesIsLeftToTheLibrary() throws Exception {
    Pictures pictures = new Pictures(new Random(1), 9, 10, 60);
    DataIterable iterable = iterable(pictures, List.of(new CenterCrop(50, 50), new ToTensor()));
    List<Long> all = LongStream.range(0, 9).boxed().toList();
    assertThat(ours(iterable, all, true)).isNull();
  }
}
