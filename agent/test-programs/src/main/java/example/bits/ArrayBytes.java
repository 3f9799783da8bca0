package example.bits;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import org.bytedeco.javacpp.Pointer;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * The bytes of DL4J arrays. Another thread may free an array's memory as soon as the array is
 * unreachable; a pointer to the memory does not prevent that. Code that reads by address must keep
 * the array reachable until done; {@link FreedMemory} shows what happens otherwise.
 */
public final class ArrayBytes {
  private ArrayBytes() {}

  /** Returns the values in C order and native byte order. */
  public static byte[] of(INDArray array) {
    INDArray copy = array.dup('c');
    try {
      ByteBuffer memory = copy.data().pointer().asByteBuffer();
      byte[] bytes = new byte[memory.remaining()];
      memory.get(bytes);
      return bytes;
    } finally {
      Reference.reachabilityFence(copy);
    }
  }

  /** Adds the values of an array. */
  public static Checksum add(Checksum checksum, INDArray array) {
    return checksum.add(of(array), holder(array));
  }

  /** Returns a checksum of the values, as eight hexadecimal digits. */
  public static String checksum(INDArray array) {
    return add(new Checksum(), array).toString();
  }

  private static String holder(INDArray array) {
    Pointer pointer = array.data().pointer();
    String owner = pointer.getClass().getName() + " at " + Long.toHexString(pointer.address());
    return array.data().getClass().getSimpleName()
        + " over a "
        + owner
        + ", offset "
        + array.data().offset()
        + (array.isAttached() ? ", in a workspace" : "");
  }
}
