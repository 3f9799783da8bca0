package io.coordl.library.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import io.coordl.cache.DecodedForm;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * An image as it is kept: height, width and channels as three little-endian ints, and, from {@link
 * #HEADER_BYTES} on, unsigned bytes, row by row, pixel by pixel, channel by channel. Immutable.
 *
 * @param form what they were decoded by, and for which flag
 * @param values read by position only through duplicates; never written
 */
record Pixels(DecodedForm form, int height, int width, int channels, ByteBuffer values) {
  static final int HEADER_BYTES = 16;

  /** What is kept; null if it is none of ours. */
  static @Nullable Pixels read(DecodedForm form, ByteBuffer kept) {
    if (kept.remaining() < HEADER_BYTES) {
      return null;
    }
    ByteBuffer header = kept.slice().order(ByteOrder.LITTLE_ENDIAN);
    int height = header.getInt(0);
    int width = header.getInt(4);
    int channels = header.getInt(8);
    long bytes = (long) height * width * channels;
    return height > 0 && width > 0 && channels > 0 && bytes == kept.remaining() - HEADER_BYTES
        ? new Pixels(form, height, width, channels, header.slice(HEADER_BYTES, (int) bytes))
        : null;
  }

  /** The pixels of an array as {@code toNDArray} makes it; null if it is of another form. */
  static @Nullable Pixels of(DecodedForm form, NDArray array) {
    Shape shape = array.getShape();
    if (array.getDataType() != DataType.UINT8 || shape.dimension() != 3 || shape.size() == 0) {
      return null;
    }
    ByteBuffer values = array.toByteBuffer();
    return values.remaining() == shape.size()
        ? new Pixels(form, (int) shape.get(0), (int) shape.get(1), (int) shape.get(2), values)
        : null;
  }

  long bytes() {
    return (long) HEADER_BYTES + values.remaining();
  }

  void writeTo(ByteBuffer target) {
    ByteBuffer kept = target.slice().order(ByteOrder.LITTLE_ENDIAN);
    kept.putInt(0, height).putInt(4, width).putInt(8, channels);
    kept.position(HEADER_BYTES);
    kept.put(values.duplicate());
  }

  /**
   * A fresh array, made as the library makes it: over direct memory of its own, since an operation
   * in place on an array over read-only memory would end the JVM.
   */
  NDArray toArray(NDManager manager) {
    ByteBuffer own = manager.allocateDirect(values.remaining());
    own.put(values.duplicate());
    own.rewind();
    return manager.create(own, new Shape(height, width, channels), DataType.UINT8);
  }

  /** Packed pixels, opaque, for {@code ImageFactory.fromPixels}. */
  int[] toRgb() {
    int[] rgb = new int[width * height];
    for (int i = 0; i < rgb.length; i++) {
      int at = i * channels;
      int last = at + channels - 1;
      rgb[i] =
          0xff000000
              | (values.get(at) & 0xff) << 16
              | (values.get(Math.min(at + 1, last)) & 0xff) << 8
              | (values.get(Math.min(at + 2, last)) & 0xff);
    }
    return rgb;
  }
}
