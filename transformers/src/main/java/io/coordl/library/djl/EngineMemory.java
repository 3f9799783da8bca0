package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Creates arrays whose values are written directly into PyTorch's memory. */
final class EngineMemory {
  /** Writes all values of an array. */
  interface Writer {
    /**
     * Called once.
     *
     * @param memory memory of the array, from 0 to its capacity; must not be used after this call
     */
    void write(ByteBuffer memory) throws Exception;
  }

  private EngineMemory() {}

  /** Whether {@link #array} can create arrays of this manager. */
  static boolean isOf(NDManager manager) {
    return Device.cpu().equals(manager.getDevice())
        && manager.getEngine().getEngineName().equals("PyTorch");
  }

  /**
   * Creates a dense array. Until it is written it belongs to no manager, because another thread
   * could close the manager and free the memory during the write.
   *
   * @return null if the engine does not expose the memory
   * @throws TimeoutException from {@code writer}: another thread may still write, so the memory is
   *     never freed
   * @throws Exception any other exception of {@code writer}
   */
  static @Nullable NDArray array(NDManager manager, Shape shape, DataType type, Writer writer)
      throws Exception {
    NDArray made = manager.create(shape, type);
    made.detach();
    try {
      ByteBuffer memory = made.toByteBuffer(true);
      // By contract, a direct buffer is the array's memory; any other buffer is a copy.
      if (memory.isDirect()) {
        HugePages.use(memory);
        writer.write(memory.order(ByteOrder.nativeOrder()));
        made.attach(manager);
        return made;
      }
    } catch (TimeoutException e) {
      throw e;
    } catch (Exception | Error e) {
      made.close();
      throw e;
    }
    made.close();
    return null;
  }

  /** Creates an array with a copy of the remaining bytes; returns null as {@link #array} does. */
  static @Nullable NDArray copy(NDManager manager, Shape shape, DataType type, ByteBuffer values) {
    try {
      return array(manager, shape, type, memory -> memory.put(values.duplicate()));
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e); // Cannot happen: the writer throws no checked exception.
    }
  }
}
