package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.checkpoint.Captured;
import io.coordl.checkpoint.NoRoomException;
import io.coordl.checkpoint.SnapshotMemory;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.memory.MemoryWorkspace;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Intercepts {@code Nd4j.write} of an array while a model is captured: copies the array, which is
 * written later. The copies are reused for the next model with the same shapes.
 */
public final class WrittenArrays implements LibraryHooks {
  private final SnapshotMemory memory;

  /** Copies from the previous snapshot that the current one has not reused yet. */
  private List<INDArray> spare = new ArrayList<>();

  /** Copies in this snapshot. */
  private List<INDArray> used = new ArrayList<>();

  private @Nullable Captured last;

  public WrittenArrays(Class<?> declaring, Services services) throws ReflectiveOperationException {
    Symbols.require(WrittenArrays.class);
    this.memory = Objects.requireNonNull(services.models()).memory();
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    Captured captured = Captured.current();
    if (captured == null
        || !(arguments[0] instanceof INDArray array)
        || !(arguments[1] instanceof DataOutputStream out)
        || array.isEmpty()) {
      return null;
    }
    try {
      INDArray copy = copy(captured, array);
      out.write(captured.gap(later -> write(copy, later)));
      return new InterceptedCall(true);
    } catch (IOException | NoRoomException e) {
      return InterceptedCall.throwing(e);
    }
  }

  private static void write(INDArray array, OutputStream out) throws IOException {
    DataOutputStream data = new DataOutputStream(new BufferedOutputStream(out, 1 << 16));
    Nd4j.write(array, data);
    data.flush();
  }

  private static long size(INDArray array) {
    return array.length() * array.dataType().width();
  }

  private void discardSpare() {
    for (INDArray old : spare) {
      memory.give(size(old));
      old.close();
    }
    spare.clear();
  }

  @SuppressWarnings("try") // Only needed to leave workspaces.
  private synchronized INDArray copy(Captured captured, INDArray array) {
    if (captured != last) {
      last = captured;
      discardSpare();
      spare = used;
      used = new ArrayList<>();
    }
    try (MemoryWorkspace none = Nd4j.getWorkspaceManager().scopeOutOfWorkspaces()) {
      for (INDArray old : spare) {
        if (old.dataType() == array.dataType()
            && old.ordering() == array.ordering()
            && old.equalShapes(array)) {
          spare.remove(old);
          used.add(old);
          old.assign(array);
          return old;
        }
      }
      discardSpare();
      if (!memory.take(size(array))) {
        throw new NoRoomException();
      }
      try {
        INDArray copy = array.dup(array.ordering());
        used.add(copy);
        return copy;
      } catch (OutOfMemoryError e) {
        memory.give(size(array));
        throw new NoRoomException();
      }
    }
  }
}
