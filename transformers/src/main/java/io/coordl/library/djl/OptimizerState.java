package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.nn.Parameter;
import ai.djl.training.LocalParameterServer;
import ai.djl.training.ParameterStore;
import ai.djl.training.Trainer;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.ParameterTracker;
import io.coordl.pipeline.LibraryField;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The state that a DJL optimizer holds for each parameter, on one device. Parameters are stored in
 * the order of their block, because their identifiers differ in another JVM.
 */
final class OptimizerState {
  private final LibraryField<Object> store = LibraryField.of(Trainer.class, "parameterStore");
  private final LibraryField<Object> server =
      LibraryField.of(ParameterStore.class, "parameterServer");
  private final LibraryField<Object> serverOptimizer =
      LibraryField.of(LocalParameterServer.class, "optimizer");
  private final LibraryField<Object> counts = LibraryField.of(Optimizer.class, "updateCounts");
  private final LibraryField<Object> updates = LibraryField.of(Optimizer.class, "numUpdate");

  OptimizerState() throws NoSuchFieldException {}

  /**
   * Returns the trainer's optimizer; null unless it is on one device, in a local parameter server.
   */
  @Nullable Optimizer of(Trainer trainer) {
    return trainer.getDevices().length == 1
            && server.get(store.require(trainer)) instanceof LocalParameterServer local
        ? (Optimizer) serverOptimizer.get(local)
        : null;
  }

  private static List<Parameter> parameters(Trainer trainer) {
    return trainer.getModel().getBlock().getParameters().values();
  }

  /** Returns the fields in which an optimizer holds arrays. */
  private static List<LibraryField<Object>> maps(Optimizer optimizer) {
    return LibraryField.all(
        optimizer.getClass(), Optimizer.class, field -> field.getType() == Map.class);
  }

  @SuppressWarnings("unchecked") // Keyed by the identifiers of parameters.
  private static Map<String, Object> map(LibraryField<Object> field, Optimizer optimizer) {
    return (Map<String, Object>) field.require(optimizer);
  }

  List<Object> trackers(Trainer trainer) {
    Optimizer optimizer = of(trainer);
    return optimizer == null
        ? List.of()
        : LibraryField.all(
                optimizer.getClass(),
                Object.class,
                field -> ParameterTracker.class.isAssignableFrom(field.getType()))
            .stream()
            .map(field -> field.get(optimizer))
            .filter(Objects::nonNull)
            .toList();
  }

  void write(DataOutputStream out, Trainer trainer) throws IOException {
    Optimizer optimizer = of(trainer);
    out.writeUTF(optimizer == null ? "" : optimizer.getClass().getName());
    if (optimizer == null) {
      return;
    }
    List<Parameter> parameters = parameters(trainer);
    out.writeInt(parameters.size());
    out.writeInt((Integer) updates.require(optimizer));
    for (Parameter parameter : parameters) {
      Object count = map(counts, optimizer).get(parameter.getId());
      out.writeInt(count == null ? -1 : (Integer) count);
    }
    List<LibraryField<Object>> maps = maps(optimizer);
    out.writeInt(maps.size());
    for (LibraryField<Object> map : maps) {
      out.writeUTF(map.field().getName());
      for (Parameter parameter : parameters) {
        write(out, array(map(map, optimizer), parameter.getId()));
      }
    }
  }

  private static @Nullable NDArray array(Map<String, Object> map, String id) {
    return map.get(id) instanceof Map<?, ?> devices
            && devices.size() == 1
            && devices.values().iterator().next() instanceof NDArray array
        ? array
        : null;
  }

  private static void write(DataOutputStream out, @Nullable NDArray array) throws IOException {
    if (array == null) {
      out.writeInt(-1);
      return;
    }
    ByteBuffer bytes = array.toByteBuffer().duplicate();
    out.writeInt(bytes.remaining());
    byte[] chunk = new byte[1 << 16];
    while (bytes.hasRemaining()) {
      int n = Math.min(chunk.length, bytes.remaining());
      bytes.get(chunk, 0, n);
      out.write(chunk, 0, n);
    }
  }

  /**
   * Restores the trainer's optimizer.
   *
   * @return null on success; otherwise the reason, and the optimizer may be partly restored
   */
  @Nullable String read(DataInputStream in, Trainer trainer) throws IOException {
    String savedClass = in.readUTF();
    Optimizer optimizer = of(trainer);
    if (optimizer == null || !savedClass.equals(optimizer.getClass().getName())) {
      return "it has another class, or does not run on a single device";
    }
    List<Parameter> parameters = parameters(trainer);
    if (in.readInt() != parameters.size()) {
      return "the model has a different number of parameters";
    }
    updates.set(optimizer, in.readInt());
    for (Parameter parameter : parameters) {
      int count = in.readInt();
      if (count >= 0) {
        map(counts, optimizer).put(parameter.getId(), count);
      }
    }
    List<LibraryField<Object>> maps = maps(optimizer);
    if (in.readInt() != maps.size()) {
      return "it keeps a different number of arrays";
    }
    for (LibraryField<Object> map : maps) {
      if (!in.readUTF().equals(map.field().getName())) {
        return "it keeps different arrays";
      }
      for (Parameter parameter : parameters) {
        int length = in.readInt();
        if (length >= 0) {
          Map<Device, NDArray> devices = new ConcurrentHashMap<>();
          NDArray array = read(in, length, parameter.getArray());
          devices.put(array.getDevice(), array);
          map(map, optimizer).put(parameter.getId(), devices);
        }
      }
    }
    return null;
  }

  private static NDArray read(DataInputStream in, int length, NDArray like) throws IOException {
    ByteBuffer bytes = like.getManager().allocateDirect(length);
    byte[] chunk = new byte[1 << 16];
    while (bytes.hasRemaining()) {
      int n = Math.min(chunk.length, bytes.remaining());
      in.readFully(chunk, 0, n);
      bytes.put(chunk, 0, n);
    }
    bytes.rewind();
    NDArray array = like.getManager().create(bytes, like.getShape(), like.getDataType());
    array.detach(); // Like the arrays that the optimizer creates.
    return array;
  }
}
