package io.coordl.library.dl4j;

import io.coordl.pipeline.KeptArray;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.function.Function;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.opencv.global.opencv_core;
import org.bytedeco.opencv.opencv_core.Mat;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.concurrency.AffinityManager;
import org.nd4j.linalg.api.memory.pointers.PagedPointer;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * The memory of a float array in plain order, accessed directly as the loader does: an ND4J
 * operation could draw from the program's random state.
 */
final class Floats {
  /** Number of values whose bytes and floats together fit the L1 cache. */
  private static final int CHUNK = 4096;

  private Floats() {}

  /** Whether the array is one image of floats with its values in plain order. */
  static boolean isPlain(INDArray array) {
    long[] shape = array.shape();
    long[] stride = array.stride();
    int skip = shape.length - 3;
    return array.dataType() == DataType.FLOAT
        && (skip == 0 || (skip == 1 && shape[0] == 1))
        && array.data().pointer() instanceof FloatPointer
        && array.length() <= Integer.MAX_VALUE
        && array.length() > 0
        && Arrays.equals(
            Arrays.copyOfRange(stride, skip, shape.length),
            new long[] {shape[skip + 1] * shape[skip + 2], shape[skip + 2], 1});
  }

  /** Returns channels, height and width of a plain array. */
  static int[] dimensions(INDArray array) {
    long[] shape = array.shape();
    int skip = shape.length - 3;
    return new int[] {(int) shape[skip], (int) shape[skip + 1], (int) shape[skip + 2]};
  }

  /** Passes the values of a plain array to {@code use}, which must not keep the pointer. */
  private static <T extends @Nullable Object> T values(
      INDArray array, Function<FloatPointer, T> use) {
    Pointer pointer = array.data().pointer();
    long skipped = array.data().offset() * Float.BYTES;
    try {
      return use.apply(new PagedPointer(pointer, array.length(), skipped).asFloatPointer());
    } finally {
      Reference.reachabilityFence(array); // The pointer does not keep it reachable.
    }
  }

  /**
   * Copies cached values into a plain array of the same length at memory speed. Uses OpenCV, the
   * loader's decoder, because Java's compilers convert one byte at a time.
   */
  static void fill(INDArray array, KeptArray kept) {
    ByteBuffer bytes = kept.values().duplicate();
    values(array, target -> convert(bytes, target));
  }

  /**
   * Writes a picture into an array as {@code NativeImageLoader.fillNDArray} does: channel by
   * channel. The loader computes a checked index for each value, which takes three times as long,
   * and far longer if the JVM does not inline it.
   *
   * @return false, with nothing written, if only the loader can write this picture
   */
  static boolean fill(INDArray array, Mat picture) {
    int rows = picture.rows();
    int columns = picture.cols();
    int channels = picture.channels();
    if (picture.depth() != opencv_core.CV_8U
        || picture.dims() != 2
        || !picture.isContinuous()
        || array.rank() != 3
        || array.length() != (long) rows * columns * channels
        || !isPlain(array)
        || !Arrays.equals(dimensions(array), new int[] {channels, rows, columns})) {
      return false;
    }
    values(array, target -> planes(bytes(picture), channels, rows, columns, target));
    Nd4j.getAffinityManager().tagLocation(array, AffinityManager.Location.HOST);
    return true;
  }

  private static FloatPointer planes(
      byte[] pixels, int channels, int rows, int columns, FloatPointer target) {
    try {
      FloatBuffer values = target.asBuffer();
      float[] row = new float[columns];
      for (int channel = 0; channel < channels; channel++) {
        for (int y = 0; y < rows; y++) {
          int from = y * columns * channels + channel;
          for (int x = 0; x < columns; x++) {
            row[x] = pixels[from + x * channels] & 0xff;
          }
          values.put((channel * rows + y) * columns, row);
        }
      }
      return target;
    } finally {
      Reference.reachabilityFence(target);
    }
  }

  /** Returns the bytes of a picture without gaps, row by row. */
  static byte[] bytes(Mat picture) {
    try {
      ByteBuffer buffer = picture.createBuffer();
      byte[] bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      return bytes;
    } finally {
      Reference.reachabilityFence(picture);
    }
  }

  private static FloatPointer convert(ByteBuffer bytes, FloatPointer values) {
    int count = bytes.remaining();
    try (Mat source = new Mat(1, count, opencv_core.CV_8U, new BytePointer(bytes));
        Mat target = new Mat(1, count, opencv_core.CV_32F, values)) {
      source.convertTo(target, opencv_core.CV_32F);
      return values;
    } finally {
      // The matrix refers to its memory by address only.
      Reference.reachabilityFence(bytes);
    }
  }

  /**
   * Returns the values of a plain array as bytes; null unless each is a whole number from 0 to 255.
   */
  static @Nullable KeptArray read(INDArray array) {
    Nd4j.getAffinityManager().ensureLocation(array, AffinityManager.Location.HOST);
    byte[] bytes = values(array, Floats::bytes);
    if (bytes == null) {
      return null;
    }
    int[] size = dimensions(array);
    return new KeptArray(size[0], size[1], size[2], ByteBuffer.wrap(bytes));
  }

  /**
   * Returns the values of an array's memory as bytes; null unless each is a whole number from 0 to
   * 255.
   */
  static byte @Nullable [] packed(INDArray array) {
    byte @Nullable [][] packed = new byte @Nullable [1][];
    Memory.bytes(array, values -> packed[0] = bytes(values.asFloatBuffer()));
    return packed[0];
  }

  /** Writes these bytes as floats into the memory of an array; both are direct buffers. */
  static void expand(ByteBuffer bytes, ByteBuffer floats) {
    try {
      convert(bytes, new FloatPointer(floats.asFloatBuffer()));
    } finally {
      Reference.reachabilityFence(floats);
    }
  }

  private static byte @Nullable [] bytes(FloatPointer values) {
    return bytes(values.asBuffer());
  }

  private static byte @Nullable [] bytes(FloatBuffer source) {
    byte[] bytes = new byte[source.remaining()];
    float[] floats = new float[CHUNK];
    for (int at = 0; at < bytes.length; at += CHUNK) {
      int count = Math.min(CHUNK, bytes.length - at);
      source.get(floats, 0, count);
      for (int i = 0; i < count; i++) {
        int value = (int) floats[i] & 0xff;
        if (Float.floatToRawIntBits(value) != Float.floatToRawIntBits(floats[i])) {
          return null;
        }
        bytes[at + i] = (byte) value;
      }
    }
    return bytes;
  }
}
