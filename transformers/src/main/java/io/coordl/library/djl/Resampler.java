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

  /** Number of rows that are resized together, so that the CPU need not wait for each sum. */
  private static final int ROWS = 4;

  private byte[] bytes = {};
  private final float[][] rows = new float[ROWS][0];
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
    grow(CHANNELS * box.width(), Math.multiplyExact(length, box.height() + ROWS - 1));
    sums = sums.length < length ? new float[length] : sums;
    if (augmentation.width() == box.width()) {
      for (int y = 0; y < box.height(); y++) {
        read(pixels, width, box, y);
        convert(bytes, resizedRows, y * length, length);
      }
    } else {
      Resampling by = Resampling.of(box.width(), augmentation.width());
      for (int y = 0; y < box.height(); y += ROWS) {
        for (int i = 0; i < Math.min(ROWS, box.height() - y); i++) {
          read(pixels, width, box, y + i);
          convert(bytes, rows[i], 0, CHANNELS * box.width());
        }
        // The last call may also resize rows of earlier calls, into the space after the others.
        resizeRows(rows[0], rows[1], rows[2], rows[3], by, resizedRows, y * length);
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
    for (int i = 0; i < ROWS; i++) {
      rows[i] = rows[i].length < rowLength ? new float[rowLength] : rows[i];
    }
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

  /** Resizes four rows; writes their results one after another. */
  private static void resizeRows(
      float[] a, float[] b, float[] c, float[] d, Resampling by, float[] to, int at) {
    int[] first = by.from;
    int[] count = by.count;
    float[] weights = by.weights;
    int maxCount = by.maxCount;
    int length = CHANNELS * first.length;
    for (int x = 0; x < first.length; x++) {
      int source = CHANNELS * first[x];
      float weight = weights[x * maxCount];
      float redA = a[source] * weight;
      float greenA = a[source + 1] * weight;
      float blueA = a[source + 2] * weight;
      float redB = b[source] * weight;
      float greenB = b[source + 1] * weight;
      float blueB = b[source + 2] * weight;
      float redC = c[source] * weight;
      float greenC = c[source + 1] * weight;
      float blueC = c[source + 2] * weight;
      float redD = d[source] * weight;
      float greenD = d[source + 1] * weight;
      float blueD = d[source + 2] * weight;
      int end = x * maxCount + count[x];
      for (int i = x * maxCount + 1; i < end; i++) {
        source += CHANNELS;
        weight = weights[i];
        redA = Math.fma(a[source], weight, redA);
        greenA = Math.fma(a[source + 1], weight, greenA);
        blueA = Math.fma(a[source + 2], weight, blueA);
        redB = Math.fma(b[source], weight, redB);
        greenB = Math.fma(b[source + 1], weight, greenB);
        blueB = Math.fma(b[source + 2], weight, blueB);
        redC = Math.fma(c[source], weight, redC);
        greenC = Math.fma(c[source + 1], weight, greenC);
        blueC = Math.fma(c[source + 2], weight, blueC);
        redD = Math.fma(d[source], weight, redD);
        greenD = Math.fma(d[source + 1], weight, greenD);
        blueD = Math.fma(d[source + 2], weight, blueD);
      }
      int place = at + CHANNELS * x;
      put(to, place, redA, greenA, blueA);
      put(to, place + length, redB, greenB, blueB);
      put(to, place + 2 * length, redC, greenC, blueC);
      put(to, place + 3 * length, redD, greenD, blueD);
    }
  }

  private static void put(float[] to, int at, float red, float green, float blue) {
    to[at] = red;
    to[at + 1] = green;
    to[at + 2] = blue;
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
