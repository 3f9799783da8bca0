package io.coordl.dl4j;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.bytedeco.javacpp.Pointer;
import org.nd4j.linalg.api.buffer.DataBuffer;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.memory.pointers.PagedPointer;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/** Arrays as bytes, and bytes as arrays, without an operation of ND4J and without a copy. */
final class Memory {
  private Memory() {}

  /** Elements from the first to the last of an array of these strides, gaps included. */
  static long span(long[] shape, long[] stride) {
    long span = 1;
    for (int i = 0; i < shape.length; i++) {
      span += (shape[i] - 1) * stride[i];
    }
    return span;
  }

  /** The bytes of an array's {@link #span}, of native order; valid while the array is. */
  static ByteBuffer bytes(INDArray array) {
    int width = array.dataType().width();
    long bytes = span(array.shape(), array.stride()) * width;
    return new PagedPointer(array.data().pointer(), bytes, array.data().offset() * width)
        .asBytePointer()
        .asByteBuffer()
        .order(ByteOrder.nativeOrder());
  }

  /**
   * An array over {@code values}. It belongs to no workspace.
   *
   * @param whole reachable from now on as long as the array is, or any view of it
   * @param values direct, from 0 on
   */
  static INDArray array(
      ByteBuffer whole, ByteBuffer values, DataType type, long[] shape, long[] stride, char order) {
    long elements = span(shape, stride);
    DataBuffer data = Nd4j.createBuffer(new Held(whole, values, elements), elements, type);
    return Nd4j.create(data, shape, stride, 0, order);
  }

  /** The memory of a buffer; holds what it is a slice of, which the slice itself may not. */
  private static final class Held extends Pointer {
    @SuppressWarnings("UnusedVariable") // The pointer keeps the buffer reachable.
    private final ByteBuffer whole;

    Held(ByteBuffer whole, ByteBuffer values, long elements) {
      super(values);
      this.whole = whole;
      limit = elements;
      capacity = elements;
    }

    @Override
    public int sizeof() {
      return 1;
    }
  }
}
