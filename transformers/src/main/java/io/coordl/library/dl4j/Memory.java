package io.coordl.library.dl4j;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.Consumer;
import org.bytedeco.javacpp.Pointer;
import org.nd4j.linalg.api.buffer.DataBuffer;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.concurrency.AffinityManager;
import org.nd4j.linalg.api.memory.pointers.PagedPointer;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/** Accesses the bytes of arrays, and creates arrays from bytes, without ND4J operations. */
final class Memory {
  /** Size of a CPU cache line, to which ND4J aligns. */
  private static final int ALIGNMENT = 64;

  private Memory() {}

  /**
   * Returns the number of elements from the first to the last of an array with these strides, gaps
   * included.
   */
  static long span(long[] shape, long[] stride) {
    long span = 1;
    for (int i = 0; i < shape.length; i++) {
      span += (shape[i] - 1) * stride[i];
    }
    return span;
  }

  /** Returns the size of an array's span in bytes. */
  static long length(INDArray array) {
    return span(array.shape(), array.stride()) * array.dataType().width();
  }

  /** Returns the address of an array's first value. */
  static long address(INDArray array) {
    return array.data().pointer().address() + array.data().offset() * array.dataType().width();
  }

  /**
   * Passes the bytes of an array's {@link #span}, in native order, to {@code use}, which must not
   * hold them. Buffers and pointers do not keep the array reachable: once nothing else does, a
   * thread of ND4J frees its memory.
   */
  static void bytes(INDArray array, Consumer<ByteBuffer> use) {
    // On a GPU the newest values may be on the device.
    Nd4j.getAffinityManager().ensureLocation(array, AffinityManager.Location.HOST);
    long skipped = array.data().offset() * array.dataType().width();
    try {
      use.accept(
          new PagedPointer(array.data().pointer(), length(array), skipped)
              .asBytePointer()
              .asByteBuffer()
              .order(ByteOrder.nativeOrder()));
    } finally {
      Reference.reachabilityFence(array);
    }
  }

  /**
   * Creates an array over {@code values}. It belongs to no workspace.
   *
   * @param whole stays reachable as long as the array or any view of it
   * @param values a direct buffer; the values start at index 0
   */
  static INDArray array(
      ByteBuffer whole, ByteBuffer values, DataType type, long[] shape, long[] stride, char order) {
    long elements = span(shape, stride);
    DataBuffer data = Nd4j.createBuffer(new Held(whole, values, elements), elements, type);
    return Nd4j.create(data, shape, stride, 0, order);
  }

  /** Creates an array with its own memory: in a workspace if {@code attached} and one is open. */
  static INDArray copy(
      ByteBuffer values, DataType type, long[] shape, long[] stride, char order, boolean attached) {
    return filled(own -> own.put(values), type, shape, stride, order, attached);
  }

  /** Like {@link #copy}, for an array of floats whose values are stored as unsigned bytes. */
  static INDArray expanded(
      ByteBuffer values, long[] shape, long[] stride, char order, boolean attached) {
    return filled(
        own -> Floats.expand(values, own), DataType.FLOAT, shape, stride, order, attached);
  }

  private static INDArray filled(
      Consumer<ByteBuffer> values,
      DataType type,
      long[] shape,
      long[] stride,
      char order,
      boolean attached) {
    INDArray array = uninitialized(type, shape, order, attached);
    if (!Arrays.equals(array.stride(), stride)) {
      long[] span = {span(shape, stride)};
      array = Nd4j.create(uninitialized(type, span, 'c', attached).data(), shape, stride, 0, order);
    }
    bytes(array, values);
    return array;
  }

  /**
   * Like {@link #copy}; but if a workspace is open and the array must not be in one, its memory is
   * a direct buffer. ND4J frees arrays outside a workspace only after a garbage collection, and a
   * thread that only requests batches produces too little garbage to cause one. For direct buffers,
   * the JDK starts a collection when their limit is reached.
   *
   * @throws OutOfMemoryError if the JVM's limit on direct memory is exceeded
   */
  static INDArray copyWithinLimit(
      ByteBuffer values, DataType type, long[] shape, long[] stride, char order, boolean attached) {
    if (attached || Nd4j.getMemoryManager().getCurrentWorkspace() == null) {
      return copy(values, type, shape, stride, order, attached);
    }
    int bytes = values.remaining();
    ByteBuffer whole = ByteBuffer.allocateDirect(Math.addExact(bytes, 2 * ALIGNMENT));
    ByteBuffer own = whole.alignedSlice(ALIGNMENT).slice(0, bytes).order(ByteOrder.nativeOrder());
    own.put(0, values, values.position(), bytes);
    return array(whole, own, type, shape, stride, order);
  }

  private static INDArray uninitialized(DataType type, long[] shape, char order, boolean attached) {
    return attached
        ? Nd4j.createUninitialized(type, shape, order)
        : Nd4j.createUninitializedDetached(type, order, shape);
  }

  /** The memory of a buffer. Refers to the whole buffer, unlike some slices. */
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
