package io.coordl.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.checkpoint.AgentCheckpoints;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.Services;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.optimize.Solver;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.memory.MemoryWorkspace;
import org.nd4j.linalg.factory.Nd4j;

/**
 * {@code Solver.optimize}: one step of a network, after which the agent may take a checkpoint.
 * Copies of a network that {@code ParallelWrapper} trains are not the network: they have none.
 */
public final class TrainedModels implements LibraryHooks {
  private static final String REPLICAS = "org.deeplearning4j.parallelism.";

  private final ModelFiles files;
  private final AgentCheckpoints checkpoints;
  private final LibraryField<Model> model;

  /** For the loader of a library that fits. */
  public TrainedModels(Class<?> declaring, Services services) throws NoSuchFieldException {
    this.files = Objects.requireNonNull(services.models());
    this.checkpoints = Objects.requireNonNull(services.checkpoints());
    this.model = LibraryField.of(Solver.class, "model", Model.class);
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    Model trained = model.get(self);
    if (!(trained instanceof MultiLayerNetwork || trained instanceof ComputationGraph)
        || Thread.currentThread().getClass().getName().startsWith(REPLICAS)) {
      return null;
    }
    return InterceptedCall.after(
        own -> {
          checkpoints.stepped(trained, "model", directory -> save(trained, directory));
          return own;
        });
  }

  @SuppressWarnings("try") // Closing it is what it is for.
  private void save(Model trained, Path directory) throws IOException {
    long span = Spans.enter(SpanKind.CHECKPOINT, trained);
    try (MemoryWorkspace none = Nd4j.getWorkspaceManager().scopeOutOfWorkspaces()) {
      Path file = directory.resolve("model.zip");
      if (files.save(file, new WrittenModel(trained, true, null)) == null) {
        throw new IOException(file + " cannot be written whole");
      }
    } finally {
      Spans.exit(span, null);
    }
  }
}
