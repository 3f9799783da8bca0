package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Transform;
import io.coordl.pipeline.CachedDataset;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.imageio.spi.IIORegistry;
import javax.imageio.spi.ImageReaderSpi;
import org.jspecify.annotations.Nullable;

/**
 * A pipeline of the library's own classes whose random draws depend only on the shapes of the
 * pictures: a data set of pictures, transforms that crop and resize, then {@link ToTensor} and
 * optionally {@link Normalize}. Thread-safe.
 */
final class PicturePipeline {
  /** Listed by name, because programs may have classes in the library's packages. */
  private static final Set<String> DATASETS =
      Set.of(
          "ai.djl.basicdataset.cv.classification.ImageFolder",
          "ai.djl.basicdataset.cv.classification.ImageNet",
          "ai.djl.basicdataset.cv.classification.FruitsFreshAndRotten");

  private static final String IMAGEIO = "ai.djl.modality.cv.BufferedImageFactory";
  private static final String OPENCV = "ai.djl.opencv.OpenCVImageFactory";
  private static final String TRANSFORMS = "ai.djl.modality.cv.transform.";

  /**
   * The library's transforms that only crop and resize, and its flips, which discard the flipped
   * picture.
   */
  private static final Set<String> HEADS =
      Set.of(
          ("CenterCrop Crop RandomFlipLeftRight RandomFlipTopBottom RandomResizedCrop Resize"
                  + " ResizeShort")
              .split(" "));

  private static final int LEVELS = 256;

  /** In this many batches at the start, the agent compares one sample with the program's own. */
  private static final int CHECKED = 16;

  private final WeakReference<RandomAccessDataset> dataset;
  private final List<WeakReference<Object>> transforms;

  /** Copies of the arrays of {@link Normalize}, which the program may change. */
  private final float[][] arrays;

  private final int heads;

  /** By channel and level, the value after {@link ToTensor} and {@link Normalize}. */
  private final float[][] table;

  private final AtomicInteger checks = new AtomicInteger(CHECKED);
  private volatile boolean leftToProgram;

  private PicturePipeline(
      RandomAccessDataset dataset,
      List<Transform> transforms,
      float[][] arrays,
      int heads,
      float[][] table) {
    this.dataset = new WeakReference<>(dataset);
    this.transforms = transforms.stream().map(one -> new WeakReference<Object>(one)).toList();
    this.arrays = arrays;
    this.heads = heads;
    this.table = table;
  }

  /**
   * Examines a pipeline; returns null for other kinds, which the program's own calls run.
   *
   * @param iterable an iterable over a data set from which several threads may get samples, in any
   *     order and without random draws
   */
  static @Nullable PicturePipeline of(DataIterable iterable, IterableFields fields) {
    RandomAccessDataset dataset = own(fields.dataset.require(iterable));
    Pipeline pipeline = fields.pipeline.get(iterable);
    if (pipeline == null) {
      return null;
    }
    List<Transform> transforms = fields.copies.transforms(pipeline);
    int heads = heads(transforms);
    if (heads < 0) {
      return null;
    }
    return new PicturePipeline(
        dataset,
        transforms,
        arrays(fields, transforms),
        heads,
        table(
            fields.manager.require(iterable).getEngine(),
            transforms.subList(heads, transforms.size())));
  }

  /**
   * Whether the library's own code returns the samples, and their pixels do not depend on the
   * device.
   */
  static boolean isOfLibrary(RandomAccessDataset any, Device device) {
    RandomAccessDataset dataset = own(any);
    String factory = ImageFactory.getInstance().getClass().getName();
    return DATASETS.contains(dataset.getClass().getName())
        && (factory.equals(OPENCV) || (factory.equals(IMAGEIO) && areReadersOfJdk()))
        && (Device.cpu().equals(device)
            || (isUnset(dataset, "getImageWidth") && isUnset(dataset, "getImageHeight")));
  }

  /**
   * Whether all image readers are the JDK's: a reader of the program might draw random numbers,
   * count its calls, or wait for a lock that the program holds.
   */
  private static boolean areReadersOfJdk() {
    Iterator<ImageReaderSpi> readers =
        IIORegistry.getDefaultInstance().getServiceProviders(ImageReaderSpi.class, false);
    while (readers.hasNext()) {
      if (readers.next().getClass().getModule() != ImageReaderSpi.class.getModule()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether the data set leaves this size unset, and so does not resize: the result of its resize
   * would depend on the device.
   */
  private static boolean isUnset(RandomAccessDataset dataset, String size) {
    try {
      return dataset.getClass().getMethod(size).invoke(dataset) instanceof Optional<?> set
          && set.isEmpty();
    } catch (ReflectiveOperationException e) {
      return false;
    }
  }

  /** Returns the number of transforms before {@link ToTensor}; -1 for other kinds of pipelines. */
  private static int heads(List<Transform> transforms) {
    int heads = 0;
    while (heads < transforms.size() && transforms.get(heads).getClass() != ToTensor.class) {
      String name = transforms.get(heads).getClass().getName();
      if (!name.startsWith(TRANSFORMS) || !HEADS.contains(name.substring(TRANSFORMS.length()))) {
        return -1;
      }
      heads++;
    }
    int tails = transforms.size() - heads;
    boolean fits =
        tails == 1 || (tails == 2 && transforms.get(heads + 1).getClass() == Normalize.class);
    return fits ? heads : -1;
  }

  private static float[][] arrays(IterableFields fields, List<Transform> transforms) {
    return transforms.stream()
        .flatMap(one -> Stream.of(fields.copies.arrays(one)))
        .map(float[]::clone)
        .toArray(float[][]::new);
  }

  /** Computes the value of each level with the engine, as for a picture. */
  private static float[][] table(Engine engine, List<Transform> tail) {
    try (NDManager host = engine.newBaseManager(Device.cpu())) {
      return table(host, tail);
    }
  }

  private static float[][] table(NDManager host, List<Transform> tail) {
    ByteBuffer levels = host.allocateDirect(LEVELS * Resampler.CHANNELS);
    for (int level = 0; level < LEVELS; level++) {
      for (int channel = 0; channel < Resampler.CHANNELS; channel++) {
        levels.put((byte) level);
      }
    }
    levels.rewind();
    NDArray at = host.create(levels, new Shape(LEVELS, 1, Resampler.CHANNELS), DataType.UINT8);
    for (Transform transform : tail) {
      at = transform.transform(at);
    }
    float[] values = at.toFloatArray();
    float[][] table = new float[Resampler.CHANNELS][];
    for (int channel = 0; channel < Resampler.CHANNELS; channel++) {
      table[channel] = Arrays.copyOfRange(values, channel * LEVELS, (channel + 1) * LEVELS);
    }
    return table;
  }

  /** Whether the program's next batch comes from this pipeline. */
  boolean isOf(DataIterable iterable, IterableFields fields) {
    Pipeline pipeline = fields.pipeline.get(iterable);
    if (!isOf(fields.dataset.require(iterable)) || pipeline == null) {
      return false;
    }
    List<Transform> now = fields.copies.transforms(pipeline);
    return now.size() == transforms.size()
        && Arrays.deepEquals(arrays, arrays(fields, now))
        && haveSame(now);
  }

  /**
   * Whether the transforms equal those of this pipeline. A prefetched batch uses copies of those
   * whose arrays the program may change.
   */
  private boolean haveSame(List<Transform> now) {
    for (int i = 0; i < now.size(); i++) {
      Object then = transforms.get(i).get();
      boolean isCopied = now.get(i).getClass() == Normalize.class;
      if (then != now.get(i) && !(isCopied && i == now.size() - 1)) {
        return false;
      }
    }
    return true;
  }

  boolean isOf(RandomAccessDataset data) {
    return dataset.refersTo(own(data));
  }

  /** Returns the program's data set, even if the agent's {@link CachedDataset} replaces it. */
  private static RandomAccessDataset own(RandomAccessDataset dataset) {
    Object own = dataset instanceof CachedDataset cached ? cached.own() : null;
    return own == null ? dataset : (RandomAccessDataset) own;
  }

  /** Whether the program has dropped the data set. */
  boolean isGone() {
    return dataset.refersTo(null);
  }

  int heads() {
    return heads;
  }

  float[][] table() {
    return table;
  }

  /** Returns the place, in a batch of this size, of the sample to compare; -1 for none. */
  int checked(int size) {
    int left = checks.get() <= 0 ? 0 : checks.getAndDecrement();
    return left <= 0 ? -1 : (CHECKED - left) * (size / 3 + 1) % size;
  }

  /** Lets the program's own calls prepare all further batches. */
  void leave() {
    leftToProgram = true;
  }

  boolean isLeftToProgram() {
    return leftToProgram;
  }
}
