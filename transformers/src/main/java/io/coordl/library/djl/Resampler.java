package io.coordl.library.djl;

import java.nio.ByteBuffer;

/**
 * Crops, resizes and converts pictures of three 8-bit channels in plain Java. Bit-identical to
 * PyTorch's CPU kernel with fused multiply-add (AVX2 and later); {@link ResamplerCheck} compares
 * the two before this is used.
 *
 * <p>Reuses its working memory; not thread-safe.
 */
final class Resampler {
  static final int CHANNELS = 3;

  private byte[] bytes = {};
  private float[] row = {};
  private float[] resizedRows = {};
  private float[] sums = {};
  private float[] planes = {};

  /**
   * Computes one sample.
   *
   * @param pixels pixels of a picture: rows, columns, channels
   * @param width width of the picture
   * @param table a value per channel and level
   * @return the channels of the result, one after another, starting at index 0; overwritten by the
   *     next call
   */
  float[] run(ByteBuffer pixels, int width, Augmentation augmentation, float[][] table) {
    Augmentation.Box part = augmentation.result();
    int area = part.area();
    planes = planes.length < CHANNELS * area ? new float[CHANNELS * area] : planes;
    if (augmentation.resizes()) {
      resize(pixels, width, augmentation, table);
    } else {
      Augmentation.Box box = augmentation.source();
      int length = CHANNELS * box.width();
      grow(length, 0);
      for (int y = 0; y < box.height(); y++) {
        read(pixels, width, box, y);
        lookUp(bytes, table, y * box.width(), box.width(), area);
      }
    }
    return planes;
  }

  private void resize(ByteBuffer pixels, int width, Augmentation augmentation, float[][] table) {
    Augmentation.Box box = augmentation.source();
    Augmentation.Box part = augmentation.result();
    int length = CHANNELS * augmentation.width();
    grow(CHANNELS * box.width(), Math.multiplyExact(length, box.height()));
    sums = sums.length < length ? new float[length] : sums;
    for (int y = 0; y < box.height(); y++) {
      read(pixels, width, box, y);
      int at = y * length;
      if (augmentation.width() == box.width()) {
        convert(bytes, resizedRows, at, length);
      } else {
        convert(bytes, row, 0, CHANNELS * box.width());
        resizeRow(row, Resampling.of(box.width(), augmentation.width()), resizedRows, at);
      }
    }
    for (int y = 0; y < part.height(); y++) {
      int target = part.y() + y;
      float[] values = resizedRows;
      int from = target * length;
      if (augmentation.height() != box.height()) {
        weightedSum(
            resizedRows, length, Resampling.of(box.height(), augmentation.height()), target, sums);
        values = sums;
        from = 0;
      }
      lookUp(
          values, from + CHANNELS * part.x(), table, y * part.width(), part.width(), part.area());
    }
  }

  private void grow(int rowLength, int rowsLength) {
    bytes = bytes.length < rowLength ? new byte[rowLength] : bytes;
    row = row.length < rowLength ? new float[rowLength] : row;
    resizedRows = resizedRows.length < rowsLength ? new float[rowsLength] : resizedRows;
  }

  private void read(ByteBuffer pixels, int width, Augmentation.Box box, int y) {
    pixels.get(CHANNELS * ((box.y() + y) * width + box.x()), bytes, 0, CHANNELS * box.width());
  }

  private static void convert(byte[] from, float[] to, int at, int count) {
    for (int i = 0; i < count; i++) {
      to[at + i] = from[i] & 0xff;
    }
  }

  private static void resizeRow(float[] from, Resampling by, float[] to, int at) {
    int[] first = by.from;
    int[] count = by.count;
    float[] weights = by.weights;
    int maxCount = by.maxCount;
    for (int x = 0; x < first.length; x++) {
      int source = CHANNELS * first[x];
      float weight = weights[x * maxCount];
      float red = from[source] * weight;
      float green = from[source + 1] * weight;
      float blue = from[source + 2] * weight;
      int end = x * maxCount + count[x];
      for (int i = x * maxCount + 1; i < end; i++) {
        source += CHANNELS;
        weight = weights[i];
        red = Math.fma(from[source], weight, red);
        green = Math.fma(from[source + 1], weight, green);
        blue = Math.fma(from[source + 2], weight, blue);
      }
      to[at + CHANNELS * x] = red;
      to[at + CHANNELS * x + 1] = green;
      to[at + CHANNELS * x + 2] = blue;
    }
  }

  /** Computes one row of the result from the rows that it depends on. */
  private static void weightedSum(
      float[] rows, int length, Resampling by, int target, float[] sums) {
    int first = by.from[target] * length;
    int at = target * by.maxCount;
    float[] weights = by.weights;
    multiply(rows, first, weights[at], sums, length);
    for (int i = 1; i < by.count[target]; i++) {
      add(rows, first + i * length, weights[at + i], sums, length);
    }
  }

  private static void multiply(float[] rows, int from, float weight, float[] sums, int length) {
    for (int i = 0; i < length; i++) {
      sums[i] = rows[from + i] * weight;
    }
  }

  private static void add(float[] rows, int from, float weight, float[] sums, int length) {
    for (int i = 0; i < length; i++) {
      sums[i] = Math.fma(rows[from + i], weight, sums[i]);
    }
  }

  /** Truncates values to 8 bits, as the engine's conversion does, and looks them up. */
  private void lookUp(float[] from, int first, float[][] table, int to, int count, int area) {
    for (int channel = 0; channel < CHANNELS; channel++) {
      float[] values = table[channel];
      int at = channel * area + to;
      for (int x = 0, i = first + channel; x < count; x++, i += CHANNELS) {
        planes[at + x] = values[(int) from[i] & 0xff];
      }
    }
  }

  private void lookUp(byte[] from, float[][] table, int to, int count, int area) {
    for (int channel = 0; channel < CHANNELS; channel++) {
      float[] values = table[channel];
      int at = channel * area + to;
      for (int x = 0, i = channel; x < count; x++, i += CHANNELS) {
        planes[at + x] = values[from[i] & 0xff];
      }
    }
  }
}
