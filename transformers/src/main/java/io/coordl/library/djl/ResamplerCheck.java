package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.modality.cv.util.NDImageUtils;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;

/**
 * Compares {@link Resampler} with the running engine. Kernels round differently on different CPUs,
 * and engine versions compute different weights.
 */
final class ResamplerCheck {
  private static final int CASES = 40;

  /** Maximum size; sums of more terms would add nothing to the comparison. */
  private static final int MAX_SIZE = 96;

  private static final float[][] LEVELS = levels();

  private ResamplerCheck() {}

  private static float[][] levels() {
    float[][] levels = new float[Resampler.CHANNELS][1 << Byte.SIZE];
    for (float[] channel : levels) {
      for (int level = 0; level < channel.length; level++) {
        channel[level] = level;
      }
    }
    return levels;
  }

  /**
   * Whether both give the same bits for pictures of many sizes that contain noise, edges or one
   * colour.
   *
   * @param engine the engine whose CPU kernel is compared
   */
  static boolean agrees(Engine engine) {
    try (NDManager host = engine.newBaseManager(Device.cpu())) {
      return agrees(host);
    }
  }

  private static boolean agrees(NDManager host) {
    Random random = new Random(1);
    Resampler resampler = new Resampler();
    for (int i = 0; i < CASES; i++) {
      int width = 1 + random.nextInt(MAX_SIZE);
      int height = 1 + random.nextInt(MAX_SIZE);
      ShapeOnly.Step part = part(random, width, height);
      ShapeOnly.Step to =
          new ShapeOnly.Step(
              true, 0, 0, 1 + random.nextInt(MAX_SIZE), 1 + random.nextInt(MAX_SIZE));
      Augmentation augmentation = Augmentation.of(List.of(part, to), width, height);
      if (augmentation == null
          || !isSame(host, resampler, picture(random, i, width, height), augmentation, width)) {
        return false;
      }
    }
    return true;
  }

  private static ShapeOnly.Step part(Random random, int width, int height) {
    int partWidth = 1 + random.nextInt(width);
    int partHeight = 1 + random.nextInt(height);
    return new ShapeOnly.Step(
        false,
        random.nextInt(width - partWidth + 1),
        random.nextInt(height - partHeight + 1),
        partWidth,
        partHeight);
  }

  private static ByteBuffer picture(Random random, int number, int width, int height) {
    byte[] pixels = new byte[Resampler.CHANNELS * width * height];
    random.nextBytes(pixels);
    byte color = (byte) random.nextInt();
    for (int i = 0; i < pixels.length; i++) {
      pixels[i] =
          switch (number % 4) {
            case 0 -> color;
            case 1 -> (byte) (pixels[i] < 0 ? -1 : 0);
            default -> pixels[i];
          };
    }
    return ByteBuffer.allocateDirect(pixels.length).put(pixels).rewind();
  }

  private static boolean isSame(
      NDManager host,
      Resampler resampler,
      ByteBuffer picture,
      Augmentation augmentation,
      int width) {
    Shape shape =
        new Shape(picture.remaining() / Resampler.CHANNELS / width, width, Resampler.CHANNELS);
    NDArray array = host.create(picture.duplicate(), shape, DataType.UINT8);
    Augmentation.Box box = augmentation.source();
    NDArray resized =
        NDImageUtils.resize(
            NDImageUtils.crop(array, box.x(), box.y(), box.width(), box.height()),
            augmentation.width(),
            augmentation.height());
    byte[] expected = resized.toByteArray();
    float[] planes = resampler.run(picture, width, augmentation, LEVELS);
    int area = augmentation.result().area();
    for (int i = 0; i < expected.length; i++) {
      if ((expected[i] & 0xff) != planes[i % Resampler.CHANNELS * area + i / Resampler.CHANNELS]) {
        return false;
      }
    }
    return expected.length == Resampler.CHANNELS * area;
  }
}
