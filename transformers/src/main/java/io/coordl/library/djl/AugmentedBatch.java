package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.modality.cv.util.NDImageUtils;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.translate.Transform;
import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.Prefetcher;
import io.coordl.pipeline.SampleThreads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * One batch of {@link AugmentedBatches}. The thread that requests it calls all methods; other
 * threads help with the samples.
 */
final class AugmentedBatch implements AutoCloseable {
  private static final int CHANNELS = Resampler.CHANNELS;

  /** Height, width, channels. */
  private static final int DIMENSIONS = 3;

  /**
   * Maximum bytes of picture parts that are copied to a device together; the JVM limits direct
   * memory.
   */
  private static final int MAX_PART_BYTES = 256 << 20;

  /**
   * Maximum attempts to draw. A draw by another thread forces one more; most executors have fewer
   * threads than this.
   */
  private static final int MAX_DRAWS = 64;

  /**
   * Thrown if the program must run the pipeline itself. The message is for the user; null if there
   * is none.
   */
  static final class LeftToProgramException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LeftToProgramException(@Nullable String message) {
      super(message);
    }
  }

  /** A decoded picture in main memory, and its labels. */
  private record Picture(NDArray array, ByteBuffer pixels, int width, int height, NDList labels) {}

  private final DataIterable iterable;
  private final IterableFields fields;
  private final PicturePipeline pipeline;
  private final List<Transform> transforms;
  private final List<Long> indices;
  private final ForkableRandom random;
  private final @Nullable Prefetcher prefetcher;
  private final SampleStack stack;
  private final Queue<Resampler> resamplers;
  private final RandomAccessDataset dataset;

  /** Managers for main memory that no thread uses at present. */
  private final Queue<NDManager> idle = new ConcurrentLinkedQueue<>();

  /** All managers for main memory; each is used by one thread at a time. */
  private final Queue<NDManager> hosts = new ConcurrentLinkedQueue<>();

  private final @Nullable Picture[] pictures;
  private final Augmentation[] augmentations;
  private final NDManager target;

  /** The generator before the draws of the batch, and after them. */
  private @Nullable ForkableRandom before;

  private @Nullable ForkableRandom after;

  /** The generator before the draws of the sample that is compared. */
  private @Nullable ForkableRandom beforeChecked;

  private @Nullable NDArray data;
  private final NDList labels = new NDList();
  private boolean isTaken;
  private boolean hangs;

  AugmentedBatch(
      DataIterable iterable,
      IterableFields fields,
      PicturePipeline pipeline,
      List<Long> indices,
      ForkableRandom random,
      @Nullable Prefetcher prefetcher,
      SampleStack stack,
      Queue<Resampler> resamplers) {
    this.iterable = iterable;
    this.fields = fields;
    this.pipeline = pipeline;
    this.transforms = fields.copies.transforms(fields.pipeline.require(iterable));
    this.indices = indices;
    this.random = random;
    this.prefetcher = prefetcher;
    this.stack = stack;
    this.resamplers = resamplers;
    this.dataset = fields.dataset.require(iterable);
    this.pictures = new Picture[indices.size()];
    this.augmentations = new Augmentation[indices.size()];
    this.target = new IterablePipeline(iterable, fields, null).newBatchManager();
  }

  private int size() {
    return indices.size();
  }

  /**
   * Draws the batch's random numbers and computes its samples.
   *
   * @return false if the program's own call must prepare the batch
   * @throws LeftToProgramException if the program must prepare all batches of this pipeline itself
   */
  boolean tryMake(boolean onHost) {
    boolean made = false;
    try {
      int checked = pipeline.checked(size());
      made = loadAll() && draw(checked) && computePixels(onHost) && matchesProgram(checked);
      return made;
    } catch (TimeoutException e) {
      hangs = true;
      throw new LeftToProgramException(
          "the agent leaves batches of pictures to the program: " + e.getMessage() + ".");
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e); // Such as an IOException while comparing.
    } finally {
      if (!made && before != null && after != null) {
        random.takeBack(after, before);
      }
    }
  }

  /**
   * Computes the batch's arrays; returns false if the program's own call must prepare the batch.
   */
  private boolean computePixels(boolean onHost) throws Exception {
    data = onHost ? onHost() : onDevice();
    for (int i = 0; data != null && i < picture(0).labels.size(); i++) {
      labels.add(label(i));
    }
    return data != null;
  }

  /**
   * Draws all numbers of the batch; starts over if another thread draws in between. Returns false
   * if the program's own call must prepare the batch.
   */
  private boolean draw(int checked) {
    for (int i = 0; i < MAX_DRAWS; i++) {
      before = random.forkOfMine();
      boolean[] fits = {false};
      if (random.attempt(
          () -> {
            fits[0] = drawOnce(checked);
            after = random.forkOfMine();
            return fits[0];
          })) {
        return true;
      }
      after = null; // Nothing was drawn.
      if (!fits[0]) {
        return false;
      }
    }
    return false;
  }

  /** Loads all pictures; returns false if that throws: the program's own call then throws, too. */
  private boolean loadAll() throws TimeoutException {
    try {
      each(this::load);
      return true;
    } catch (LeftToProgramException | TimeoutException e) {
      throw e;
    } catch (Exception e) {
      return false;
    }
  }

  /** Returns the maximum number of threads that compute its samples. */
  int threads() {
    return prefetcher == null ? 1 : prefetcher.threadsFor(size());
  }

  private void each(SampleThreads.Work work) throws Exception {
    Prefetcher.forEachSample(prefetcher, size(), work);
  }

  /** Loads one picture into main memory, whatever the batch's device. */
  private void load(int place) throws Exception {
    NDManager host = idle.poll();
    if (host == null) {
      host = target.getEngine().newBaseManager(Device.cpu());
      hosts.add(host);
    }
    Record made = dataset.get(host, indices.get(place));
    NDList list = made.getData();
    NDArray array = list.size() == 1 && list.getClass() == NDList.class ? list.get(0) : null;
    if (array == null
        || array.getDataType() != DataType.UINT8
        || array.getShape().dimension() != DIMENSIONS
        || array.getShape().get(2) != CHANNELS
        || array.getName() != null
        || !Strides.areDense(array)
        || !made.getLabels().stream().allMatch(AugmentedBatch::isDenseNumeric)) {
      throw new LeftToProgramException(null);
    }
    ByteBuffer pixels = array.toByteBuffer(true);
    Shape shape = array.getShape();
    pictures[place] =
        new Picture(array, pixels, (int) shape.get(1), (int) shape.get(0), made.getLabels());
    idle.add(host);
  }

  private static boolean isDenseNumeric(NDArray label) {
    return label.getDataType() != DataType.STRING && !label.isSparse();
  }

  private Picture picture(int place) {
    return Objects.requireNonNull(pictures[place], "each picture is loaded");
  }

  /**
   * Runs the transforms over the shapes; returns false if one throws, or if the samples differ in
   * size.
   */
  private boolean drawOnce(int checked) {
    List<Transform> heads = transforms.subList(0, pipeline.heads());
    for (int place = 0; place < size(); place++) {
      Picture picture = picture(place);
      if (place == checked) {
        beforeChecked = random.forkOfMine();
      }
      Augmentation augmentation;
      try {
        Shape shape = new Shape(picture.height, picture.width, CHANNELS);
        augmentation =
            Augmentation.of(ShapeOnly.steps(heads, shape), picture.width, picture.height);
      } catch (UnsupportedOperationException e) {
        throw new LeftToProgramException(null);
      } catch (RuntimeException e) {
        return false; // The program's own call throws this.
      }
      if (augmentation == null) {
        throw new LeftToProgramException(null);
      }
      augmentations[place] = augmentation;
      Augmentation.Box first = augmentations[0].result();
      if (augmentation.result().width() != first.width()
          || augmentation.result().height() != first.height()) {
        return false;
      }
    }
    return true;
  }

  private Shape shape() {
    Augmentation.Box result = augmentations[0].result();
    return new Shape(size(), CHANNELS, result.height(), result.width());
  }

  /** Writes all samples directly into the memory of the batch's array. */
  private NDArray onHost() throws Exception {
    NDArray batch = EngineMemory.array(target, shape(), DataType.FLOAT32, this::write);
    if (batch == null) {
      throw new LeftToProgramException(null);
    }
    return batch;
  }

  private void write(ByteBuffer memory) throws Exception {
    FloatBuffer values = memory.asFloatBuffer();
    int length = CHANNELS * augmentations[0].result().area();
    float[][] table = pipeline.table();
    each(
        place -> {
          long span = Spans.enter(SpanKind.TRANSFORM, transforms.get(0));
          Resampler resampler = Objects.requireNonNullElseGet(resamplers.poll(), Resampler::new);
          Picture picture = picture(place);
          float[] planes =
              resampler.run(picture.pixels, picture.width, augmentations[place], table);
          values.duplicate().position(place * length).put(planes, 0, length);
          resamplers.add(resampler);
          Spans.exit(span, null);
        });
  }

  /**
   * Copies the picture parts to the device in one transfer, resizes and crops them there, and
   * converts the whole batch together.
   *
   * @return null if the shape or memory order of the result could differ from the program's, or if
   *     the parts are too large
   */
  private @Nullable NDArray onDevice() throws Exception {
    Shape shape = shape();
    if (LongStream.of(shape.getShape()).anyMatch(length -> length == 1)) {
      return null; // A stride along a length of 1 says nothing about the memory order.
    }
    int[] starts = new int[size() + 1];
    for (int place = 0; place < size(); place++) {
      long end = starts[place] + (long) CHANNELS * augmentations[place].source().area();
      if (end > MAX_PART_BYTES) {
        return null;
      }
      starts[place + 1] = (int) end;
    }
    // This thread, not the one that takes the batch, frees the intermediate arrays.
    try (NDManager parts = target.newSubManager()) {
      NDArray all = upload(parts, starts);
      NDList planes = new NDList();
      for (int place = 0; place < size(); place++) {
        planes.add(onDevice(all, starts[place], augmentations[place]));
      }
      // The other transforms see the planes as pixels, in the same memory order.
      NDArray batch = NDArrays.stack(planes).transpose(0, 2, 3, 1);
      for (Transform tail : transforms.subList(pipeline.heads(), transforms.size())) {
        batch = tail.transform(batch);
      }
      if (!batch.getShape().equals(shape) || !Strides.areDense(batch)) {
        return null;
      }
      batch.attach(target);
      return batch;
    }
  }

  /** Returns the parts of all pictures, one after another, on the device. */
  private NDArray upload(NDManager parts, int[] starts) throws Exception {
    int length = starts[size()];
    ByteBuffer bytes = stack.memory(length);
    each(place -> copyPart(place, bytes, starts[place])); // On failure the memory is not reused.
    try {
      return parts.create(bytes, new Shape(length), DataType.UINT8);
    } finally {
      stack.free(bytes, BatchFrame.copiesToGpu(target));
    }
  }

  private void copyPart(int place, ByteBuffer to, int start) {
    Picture picture = picture(place);
    Augmentation.Box box = augmentations[place].source();
    int length = CHANNELS * box.width();
    for (int y = 0; y < box.height(); y++) {
      int from = CHANNELS * ((box.y() + y) * picture.width + box.x());
      to.put(start + y * length, picture.pixels, from, length);
    }
  }

  private static NDArray onDevice(NDArray all, int start, Augmentation augmentation) {
    Augmentation.Box source = augmentation.source();
    NDArray part =
        all.get(new NDIndex().addSliceDim(start, start + CHANNELS * source.area()))
            .reshape(source.height(), source.width(), CHANNELS);
    if (augmentation.resizes()) {
      part = NDImageUtils.resize(part, augmentation.width(), augmentation.height());
      Augmentation.Box result = augmentation.result();
      if (result.width() != augmentation.width() || result.height() != augmentation.height()) {
        part = NDImageUtils.crop(part, result.x(), result.y(), result.width(), result.height());
      }
    }
    return part.transpose(2, 0, 1);
  }

  /**
   * Compares one sample with the program's own, unless {@code place} is -1. Returns true, or throws
   * if they differ.
   */
  private boolean matchesProgram(int place) throws IOException {
    if (place < 0) {
      return true;
    }
    NDArray[] own = new NDArray[1];
    NDArray made = Objects.requireNonNull(data);
    boolean onHost = Device.cpu().equals(target.getDevice());
    NDArray picture =
        onHost ? picture(place).array : dataset.get(target, indices.get(place)).getData().head();
    random.drawingFrom(
        Objects.requireNonNull(beforeChecked),
        () -> {
          NDArray sample = picture;
          for (Transform transform : transforms) {
            sample = transform.transform(sample);
          }
          own[0] = sample;
        });
    boolean same;
    try (NDArray ours = made.get(place)) {
      same =
          own[0].getShape().equals(ours.getShape())
              && Arrays.equals(own[0].toByteArray(), ours.toByteArray());
    }
    if (!same) {
      throw new LeftToProgramException(
          "the agent leaves batches of pictures to the program: on this machine, its samples"
              + " differ from the program's own.");
    }
    return true;
  }

  /** Returns the finished batch. */
  Batch take(int progress) {
    Batch batch =
        fields
            .frame(iterable, indices, progress)
            .of(target, new NDList(Objects.requireNonNull(data)), labels);
    isTaken = true;
    return batch;
  }

  private NDArray label(int number) {
    NDArray first = picture(0).labels.get(number);
    int length = Math.toIntExact(first.size() * first.getDataType().getNumOfBytes());
    ByteBuffer values = ByteBuffer.allocateDirect(size() * length).order(ByteOrder.nativeOrder());
    for (int place = 0; place < size(); place++) {
      NDArray label = picture(place).labels.get(number);
      if (!label.getShape().equals(first.getShape())
          || label.getDataType() != first.getDataType()) {
        throw new IllegalStateException("labels of several shapes");
      }
      values.put(label.toByteBuffer(true));
    }
    List<Long> shape = new ArrayList<>(List.of((long) size()));
    Arrays.stream(first.getShape().getShape()).forEach(shape::add);
    String name = first.getName();
    return BatchFrame.array(
        target,
        new BatchLayout.Array(
            BatchArrays.LABELS,
            first.getDataType().name(),
            name == null ? "" : name,
            shape,
            values.capacity()),
        values.rewind());
  }

  @Override
  public void close() {
    if (hangs) {
      return; // The thread that hangs may still use all this.
    }
    hosts.forEach(NDManager::close);
    if (!isTaken) {
      target.close();
    }
  }
}
