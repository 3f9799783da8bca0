package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.checkpoint.AgentCheckpoints;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.checkpoint.Resume;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.Services;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.optimize.Solver;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.memory.MemoryWorkspace;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Intercepts {@code Solver.optimize}, one step of a network, and the start of an epoch. The agent
 * may take a checkpoint after a step, or skip steps because an earlier job has run them. Ignores
 * the copies of a network that {@code ParallelWrapper} trains.
 */
public final class TrainedModels implements LibraryHooks {
  /** The model's file in a checkpoint of the agent. */
  static final String FILE = "model.zip";

  private static final String REPLICAS = "org.deeplearning4j.parallelism.";

  private final @Nullable AgentCheckpoints checkpoints;
  private final @Nullable Resume resume;
  private final @Nullable ModelFiles files;
  private final LibraryField<Model> model;
  private final SkippedEpochs epochs = new SkippedEpochs();
  private final List<Progress> networks = new ArrayList<>();
  private int networkCount;

  /** The progress of a network; used by the thread that trains it. */
  private static final class Progress {
    private final WeakReference<Model> network;
    private final @Nullable ResumedNetwork resumed;
    private final int number;
    private long steps;

    Progress(Model network, int number, @Nullable ResumedNetwork resumed) {
      this.number = number;
      this.network = new WeakReference<>(network);
      this.resumed = resumed;
      this.steps = resumed == null ? 0 : resumed.steps();
    }
  }

  public TrainedModels(Class<?> declaring, Services services) throws NoSuchFieldException {
    this.files = services.models();
    this.checkpoints = services.checkpoints();
    this.resume = services.resume();
    this.model = LibraryField.of(Solver.class, "model", Model.class);
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    boolean step = method.equals("optimize");
    Model trained = step ? model.get(self) : (Model) self;
    if (!(trained instanceof MultiLayerNetwork || trained instanceof ComputationGraph)
        || Thread.currentThread().getClass().getName().startsWith(REPLICAS)) {
      return null;
    }
    Progress made = progress(trained);
    return step ? step(trained, made) : epoch(made.resumed, arguments[0]);
  }

  /**
   * Returns the progress of a network, found by identity: networks with equal weights are equal.
   */
  private Progress progress(Model network) {
    synchronized (networks) {
      for (Progress known : networks) {
        if (known.network.get() == network) {
          return known;
        }
      }
      networks.removeIf(known -> known.network.get() == null);
      Progress made =
          new Progress(
              network, networkCount++, resume == null ? null : ResumedNetwork.of(network, resume));
      networks.add(made);
      return made;
    }
  }

  private @Nullable InterceptedCall epoch(@Nullable ResumedNetwork resumed, Object iterator) {
    InterceptedCall skipped =
        resumed == null || resumed.left() == 0 ? null : epochs.skip(resumed, iterator);
    if (skipped != null) {
      Spans.exit(Spans.enter(SpanKind.SKIPPED, 1), null);
    }
    return skipped;
  }

  private @Nullable InterceptedCall step(Model trained, Progress made) {
    ResumedNetwork resumed = made.resumed;
    if (resumed != null && resumed.skip(trained)) {
      Spans.exit(Spans.enter(SpanKind.SKIPPED, null), null);
      return InterceptedCall.skipping();
    }
    AgentCheckpoints taking = checkpoints;
    ModelFiles models = files;
    if (taking == null || models == null) {
      return null;
    }
    List<@Nullable INDArray> batch = ResumedNetwork.batchOf(trained);
    return InterceptedCall.after(
        own -> {
          made.steps++;
          taking.stepped(
              trained, "model", new Saver(models, trained, made.number, made.steps, batch));
          return own;
        });
  }

  private record Saver(
      ModelFiles files, Model trained, int number, long steps, List<@Nullable INDArray> batch)
      implements AgentCheckpoints.Saver {
    @Override
    public void state(DataOutputStream out) throws IOException {
      ResumedNetwork.write(out, trained, number, steps, ResumedNetwork.fingerprint(batch));
    }

    @Override
    @SuppressWarnings("try") // Only needed to leave workspaces.
    public void save(Path directory) throws IOException {
      long span = Spans.enter(SpanKind.CHECKPOINT, trained);
      try (MemoryWorkspace none = Nd4j.getWorkspaceManager().scopeOutOfWorkspaces()) {
        Path file = directory.resolve(FILE);
        if (files.save(file, new WrittenModel(trained, true, null)) == null) {
          throw new IOException(file + " cannot be written whole");
        }
      } finally {
        Spans.exit(span, null);
      }
    }
  }
}
