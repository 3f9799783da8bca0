package io.coordl.library.dl4j;

import io.coordl.checkpoint.Resume;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.api.NeuralNetwork;
import org.deeplearning4j.nn.api.OptimizationAlgorithm;
import org.deeplearning4j.nn.conf.BackpropType;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.util.ModelSerializer;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.api.rng.Random;
import org.nd4j.linalg.factory.Nd4j;

/**
 * A network that is restored to its state after a step of an earlier job. The steps up to that one
 * are skipped: the program takes the same batches in the same order, but does not train on them. At
 * the last of them, the network, its step counts and the random generator are restored; if that
 * step's batch differs from that of the earlier job, this is logged. Used by the training thread.
 */
final class ResumedNetwork {
  private static final int VERSION = 1;

  /** An array's fingerprint uses fewer than twice this many of its values. */
  private static final int SAMPLES = 1 << 14;

  /** The state of a network at one moment, without its settings. */
  record State(INDArray parameters, @Nullable INDArray updater, int iterations, int epochs) {
    static State of(Model network) {
      INDArray updater = ResumedNetwork.updater(network);
      return new State(
          network.params().dup(),
          updater == null ? null : updater.dup(),
          ResumedNetwork.iterations(network),
          ResumedNetwork.epochs(network));
    }

    void putBack(Model network) {
      network.setParams(parameters);
      if (updater != null) {
        setUpdater(network, updater);
      }
      setCounts(network, iterations, epochs);
    }
  }

  private final Resume resume;
  private final File file;
  private final boolean severalStepsABatch;
  private final long steps;
  private final long batch;
  private final int iterations;
  private final int epochs;
  private final long root;
  private final long node;

  private long skipped;
  private String savedSettings = "";

  private ResumedNetwork(Resume resume, File file, DataInputStream in, boolean severalStepsABatch)
      throws IOException {
    this.resume = resume;
    this.file = file;
    this.severalStepsABatch = severalStepsABatch;
    if (in.readInt() != VERSION) {
      throw new IOException(
          "the checkpoint was written by another version of the agent, or for another library");
    }
    if (in.readInt() != 0) {
      throw new IOException(
          "the checkpoint belongs to the second network that the job trained, or to a later one");
    }
    steps = in.readLong();
    batch = in.readLong();
    iterations = in.readInt();
    epochs = in.readInt();
    root = in.readLong();
    node = in.readLong();
  }

  /**
   * Writes the state that a network's file lacks.
   *
   * @param number number of networks that the job trained before
   * @param steps steps of the network so far
   * @param batch {@link #fingerprint} of the last batch
   */
  static void write(DataOutputStream out, Model network, int number, long steps, long batch)
      throws IOException {
    Random random = Nd4j.getRandom();
    out.writeInt(VERSION);
    out.writeInt(number);
    out.writeLong(steps);
    out.writeLong(batch);
    out.writeInt(iterations(network));
    out.writeInt(epochs(network));
    out.writeLong(random.rootState());
    out.writeLong(random.nodeState());
  }

  /**
   * Restores a network; returns null if there is no checkpoint. If the restore fails, logs why,
   * leaves the network unchanged and returns null.
   */
  static @Nullable ResumedNetwork of(Model network, Resume resume) {
    Path checkpoint = resume.take();
    if (checkpoint == null) {
      return null;
    }
    State before = State.of(network);
    try (DataInputStream in = Resume.open(checkpoint)) {
      File file = checkpoint.resolve(TrainedModels.FILE).toFile();
      ResumedNetwork resumed = new ResumedNetwork(resume, file, in, isTruncated(network));
      String other = resumed.restore(network);
      if (other != null) {
        resume.fail(other);
        return null;
      }
      resume.begin(resumed.steps);
      setCounts(network, resumed.iterations, resumed.epochs);
      if (resumed.severalStepsABatch) {
        resume.lacks(
            "the network's state within a sequence (truncated backpropagation) is not restored");
      }
      if (algorithm(network) != OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT) {
        resume.lacks(
            "the state that " + algorithm(network) + " keeps of earlier steps is not restored");
      }
      if (isStoppedEarly()) {
        resume.lacks(
            "EarlyStoppingTrainer's best score and termination conditions are not restored");
      }
      return resumed;
    } catch (IOException | RuntimeException e) {
      before.putBack(network);
      resume.fail(e);
      return null;
    }
  }

  private static boolean isStoppedEarly() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames.anyMatch(
                    frame -> frame.getClassName().startsWith("org.deeplearning4j.earlystopping.")));
  }

  private static OptimizationAlgorithm algorithm(Model network) {
    return network.conf().getOptimizationAlgo();
  }

  /** Returns the settings; a program may change some, such as learning rates, during training. */
  private static String settings(Model network) {
    String text =
        network instanceof MultiLayerNetwork layers
            ? layers.getLayerWiseConfigurations().toJson()
            : ((ComputationGraph) network).getConfiguration().toJson();
    return text.replaceAll("\"(iterationCount|epochCount)\" : \\d+", "");
  }

  private static boolean isTruncated(Model network) {
    BackpropType type =
        network instanceof MultiLayerNetwork layers
            ? layers.getLayerWiseConfigurations().getBackpropType()
            : ((ComputationGraph) network).getConfiguration().getBackpropType();
    return type == BackpropType.TruncatedBPTT;
  }

  /** Restores the weights and the updater; returns null on success, otherwise the reason. */
  private @Nullable String restore(Model network) throws IOException {
    boolean layered = network instanceof MultiLayerNetwork;
    Model saved =
        layered
            ? ModelSerializer.restoreMultiLayerNetwork(file, true)
            : ModelSerializer.restoreComputationGraph(file, true);
    INDArray updater = updater(saved);
    if (differInLength(network.params(), saved.params())
        || differInLength(updater(network), updater)) {
      String what = layered ? "network" : "graph";
      return "the " + what + " has other parameters or another updater than the checkpoint";
    }
    savedSettings = settings(saved);
    network.setParams(saved.params());
    if (updater != null) {
      setUpdater(network, updater.dup());
    }
    return null;
  }

  private static @Nullable INDArray updater(Model network) {
    return ((NeuralNetwork) network).updaterState();
  }

  private static void setUpdater(Model network, INDArray state) {
    if (network instanceof MultiLayerNetwork layers) {
      layers.getUpdater().setStateViewArray(layers, state, false);
    } else {
      ((ComputationGraph) network).getUpdater().setStateViewArray(state);
    }
  }

  private static boolean differInLength(@Nullable INDArray one, @Nullable INDArray other) {
    return (one == null || other == null) ? one != other : one.length() != other.length();
  }

  private static int iterations(Model network) {
    return network instanceof MultiLayerNetwork layers
        ? layers.getIterationCount()
        : ((ComputationGraph) network).getConfiguration().getIterationCount();
  }

  private static int epochs(Model network) {
    return network instanceof MultiLayerNetwork layers
        ? layers.getEpochCount()
        : ((ComputationGraph) network).getConfiguration().getEpochCount();
  }

  /** Sets the counts that schedules and listeners use. */
  private static void setCounts(Model network, int iterations, int epochs) {
    if (network instanceof MultiLayerNetwork layers) {
      layers.setIterationCount(iterations);
      layers.setEpochCount(epochs);
    } else {
      ComputationGraph graph = (ComputationGraph) network;
      graph.getConfiguration().setIterationCount(iterations);
      graph.getConfiguration().setEpochCount(epochs);
    }
  }

  /** Returns the number of steps still to skip. */
  long left() {
    return steps - skipped;
  }

  /** Returns the number of steps that the network had taken at the checkpoint. */
  long steps() {
    return steps;
  }

  /** Whether one batch may take several steps. */
  boolean hasSeveralStepsABatch() {
    return severalStepsABatch;
  }

  /** Skips steps that need no batch. */
  void skip(long number) {
    skipped += number;
  }

  void preparesAgain(String what) {
    resume.preparesAgain(what);
  }

  /** Called before a step of the network; returns false if the step is new and must run. */
  boolean skip(Model network) {
    if (left() == 0) {
      return false;
    }
    skip(1);
    if (left() == 0) {
      if (fingerprint(batchOf(network)) != batch) {
        resume.lacks(
            String.format(
                "the batch of step %s differs from that of the earlier job, so items of its epoch"
                    + " may be used twice or not at all",
                steps));
      }
      arrive(network);
    }
    return true;
  }

  /** Restores the network again: the program may have changed weights or settings between steps. */
  private void arrive(Model network) {
    try {
      String other = restore(network);
      if (other != null) {
        resume.lacks(other);
      } else if (!settings(network).equals(savedSettings)) {
        resume.lacks(
            "the network's settings, such as learning rates, differ from those of the earlier job");
      }
    } catch (IOException e) {
      resume.lacks(String.valueOf(e));
    }
    setCounts(network, iterations, epochs);
    Nd4j.getRandom().setStates(root, node);
    resume.end();
  }

  /** Returns the arrays on which a network is about to be trained. */
  static List<@Nullable INDArray> batchOf(Model network) {
    if (network instanceof MultiLayerNetwork layers) {
      return Arrays.asList(layers.getInput(), layers.getLabels());
    }
    INDArray[] inputs = ((ComputationGraph) network).getInputs();
    return inputs == null ? List.of() : Arrays.asList(inputs.clone());
  }

  static long fingerprint(List<@Nullable INDArray> batch) {
    long hash = 1;
    for (INDArray array : batch) {
      long length = array == null ? 0 : array.length();
      hash = 31 * hash + length;
      for (long i = 0; array != null && i < length; i += Math.max(1, length / SAMPLES)) {
        hash = 31 * hash + Double.hashCode(array.getDouble(i));
      }
    }
    return hash;
  }
}
