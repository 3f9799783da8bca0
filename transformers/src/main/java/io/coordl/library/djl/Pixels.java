package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import io.coordl.pipeline.KeptArray;
import io.coordl.pipeline.KeptItems;
import io.coordl.store.DecodedForm;
import io.coordl.store.DecodedItem;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A cached image. Immutable.
 *
 * @param form the decoder, and the flag passed to it
 * @param array height, width, channels
 */
record Pixels(DecodedForm form, KeptArray array) {
  /** Returns the cached pixels of an item in this form; null if there are none. */
  static @Nullable Pixels find(DecodedItem item, DecodedForm form) {
    KeptArray array = KeptItems.find(item, form);
    return array == null ? null : new Pixels(form, array);
  }

  /**
   * Returns the pixels of an array in main memory, as {@code toNDArray} creates it; null for other
   * arrays.
   */
  static @Nullable KeptArray of(NDArray array) {
    Shape shape = array.getShape();
    if (!Device.cpu().equals(array.getDevice())
        || array.getDataType() != DataType.UINT8
        || shape.dimension() != 3
        || shape.size() == 0) {
      return null;
    }
    ByteBuffer values = array.toByteBuffer();
    return values.remaining() == shape.size()
        ? new KeptArray((int) shape.get(0), (int) shape.get(1), (int) shape.get(2), values)
        : null;
  }

  int height() {
    return array.first();
  }

  int width() {
    return array.second();
  }

  /**
   * Creates an array with its own memory, because an in-place operation on read-only memory would
   * crash the JVM.
   *
   * <p>In main memory, PyTorch allocates that memory, and frees it when the array is closed. A
   * direct buffer, which the library uses for its arrays, is freed only by the garbage collector.
   * Until the limit of direct memory is reached, each image would touch pages that are new to the
   * process, which costs more than all its transforms. Other engines and devices get such a buffer.
   */
  NDArray toArray(NDManager manager) {
    Shape shape = new Shape(height(), width(), array.third());
    NDArray made =
        EngineMemory.isOf(manager)
            ? EngineMemory.copy(manager, shape, DataType.UINT8, array.values())
            : null;
    if (made != null) {
      return made;
    }
    ByteBuffer own = manager.allocateDirect(array.values().remaining());
    own.put(array.values().duplicate());
    own.rewind();
    return manager.create(own, shape, DataType.UINT8);
  }

  /** Returns packed opaque pixels, for {@code ImageFactory.fromPixels}. */
  int[] toRgb() {
    ByteBuffer values = array.values();
    int channels = array.third();
    int[] rgb = new int[width() * height()];
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
