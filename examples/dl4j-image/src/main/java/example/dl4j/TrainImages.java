package example.dl4j;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.split.FileSplit;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.earlystopping.EarlyStoppingConfiguration;
import org.deeplearning4j.earlystopping.EarlyStoppingResult;
import org.deeplearning4j.earlystopping.listener.EarlyStoppingListener;
import org.deeplearning4j.earlystopping.saver.InMemoryModelSaver;
import org.deeplearning4j.earlystopping.scorecalc.ScoreCalculator;
import org.deeplearning4j.earlystopping.termination.MaxEpochsTerminationCondition;
import org.deeplearning4j.earlystopping.trainer.EarlyStoppingTrainer;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.ConvolutionLayer;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.conf.layers.SubsamplingLayer;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.nn.weights.WeightInit;
import org.deeplearning4j.optimize.api.TrainingListener;
import org.deeplearning4j.optimize.listeners.CheckpointListener;
import org.deeplearning4j.parallelism.ParallelWrapper;
import org.nd4j.evaluation.classification.Evaluation;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Adam;
import org.nd4j.linalg.lossfunctions.LossFunctions;

/**
 * Image classification with DL4J: a folder of pictures, DataVec's image reader, a small network.
 *
 * <p>Arguments, each {@code --name value}:
 *
 * <ul>
 *   <li>{@code data}: folder with one folder of pictures per class (required); {@code validate}:
 *       another such folder, on which accuracy is measured after every epoch (default: not
 *       measured)
 *   <li>{@code epochs} (3), {@code batch} (32), {@code size} of the network's input (112), {@code
 *       stride} of its first layer (8: data dominates; 2: computation dominates), {@code lr}
 *       (0.001)
 *   <li>{@code seed} (1): for the order of the files and the initial weights
 *   <li>{@code checkpoint}: folder for the models of the last two epochs (default: not saved)
 *   <li>{@code log}: file for the lines of {@link BatchLog}
 *   <li>{@code loop}: fit, hand, earlystopping, parallelwrapper or graph; {@code limit}: leave an
 *       epoch of the hand-written loop after this many batches (0: never)
 * </ul>
 */
public final class TrainImages {
  private static final Set<String> NAMES =
      Set.of(
          "data",
          "validate",
          "epochs",
          "batch",
          "size",
          "stride",
          "seed",
          "lr",
          "checkpoint",
          "log",
          "loop",
          "limit");

  private static final int CHANNELS = 3;

  private final Options options;
  private final int epochs;
  private final int size;
  private final int seed;

  private TrainImages(Options options) {
    this.options = options;
    epochs = options.number("epochs", 3);
    size = options.number("size", 112);
    seed = options.number("seed", 1);
  }

  /** Trains according to the arguments; if they are wrong, prints a sentence and exits with 2. */
  public static void main(String[] args) throws IOException {
    try {
      new TrainImages(new Options(NAMES, args)).train();
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
    }
  }

  /** A training loop, which calls {@link EpochEnd} after each epoch. */
  private interface Loop {
    void run(DataSetIterator data, EpochEnd end);
  }

  private void train() throws IOException {
    Path data = folder("data");
    Nd4j.getRandom().setSeed(seed);
    DataSetIterator iterator = pictures(data, new Random(seed));
    DataSetIterator heldOut =
        options.path("validate").isPresent() ? pictures(folder("validate"), null) : null;

    MultiLayerNetwork network = new MultiLayerNetwork(configuration(iterator.getLabels().size()));
    network.init();
    Path log = options.path("log").orElse(null);
    try (BatchLog batchLog = log == null ? null : new BatchLog(log)) {
      List<TrainingListener> listeners = listeners(batchLog);
      Loop loop = loop(network, listeners);
      loop.run(iterator, new EpochEnd(batchLog, heldOut));
    }
  }

  private Path folder(String name) {
    return options
        .path(name)
        .filter(Files::isDirectory)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "--"
                        + name
                        + " is "
                        + options.text(name, "not given")
                        + ", expected a folder with one folder of pictures per class."));
  }

  private DataSetIterator pictures(Path data, Random order) throws IOException {
    ImageRecordReader reader =
        new ImageRecordReader(size, size, CHANNELS, new ParentPathLabelGenerator());
    reader.initialize(new FileSplit(data.toFile(), NativeImageLoader.ALLOWED_FORMATS, order));
    DataSetIterator iterator =
        new RecordReaderDataSetIterator(reader, options.number("batch", 32), 1, reader.numLabels());
    iterator.setPreProcessor(new ImagePreProcessingScaler(0, 1));
    return iterator;
  }

  private MultiLayerConfiguration configuration(int classes) {
    int stride = options.number("stride", 8);
    return new NeuralNetConfiguration.Builder()
        .seed(seed)
        .weightInit(WeightInit.RELU)
        .updater(new Adam(options.fraction("lr", 1e-3f)))
        .list()
        .layer(
            new ConvolutionLayer.Builder(5, 5)
                .nIn(CHANNELS)
                .nOut(8)
                .stride(stride, stride)
                .activation(Activation.RELU)
                .build())
        .layer(
            new SubsamplingLayer.Builder(SubsamplingLayer.PoolingType.MAX)
                .kernelSize(2, 2)
                .stride(2, 2)
                .build())
        .layer(new ConvolutionLayer.Builder(3, 3).nOut(16).activation(Activation.RELU).build())
        .layer(new DenseLayer.Builder().nOut(32).activation(Activation.RELU).build())
        .layer(
            new OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD)
                .nOut(classes)
                .activation(Activation.SOFTMAX)
                .build())
        .setInputType(InputType.convolutional(size, size, CHANNELS))
        .build();
  }

  private List<TrainingListener> listeners(BatchLog batchLog) throws IOException {
    List<TrainingListener> listeners = new ArrayList<>();
    if (batchLog != null) {
      listeners.add(batchLog);
    }
    Path checkpoint = options.path("checkpoint").orElse(null);
    if (checkpoint != null) {
      // CheckpointListener does not create its folder.
      Files.createDirectories(checkpoint);
      listeners.add(
          new CheckpointListener.Builder(checkpoint.toFile())
              .saveEveryNEpochs(1)
              .keepLast(2)
              .deleteExisting(true)
              .build());
    }
    return listeners;
  }

  private Loop loop(MultiLayerNetwork network, List<TrainingListener> listeners) {
    return switch (options.text("loop", "fit")) {
      case "fit" -> fit(network, listeners);
      case "hand" -> byHand(network, listeners, options.number("limit", 0));
      case "graph" -> graph(network.toComputationGraph(), listeners);
      case "earlystopping" -> earlyStopping(network, listeners);
      case "parallelwrapper" -> parallel(network, listeners);
      default ->
          throw new IllegalArgumentException(
              "--loop is "
                  + options.text("loop", "")
                  + ", expected fit, hand, earlystopping, parallelwrapper or graph.");
    };
  }

  private Loop fit(MultiLayerNetwork network, List<TrainingListener> listeners) {
    network.addListeners(listeners.toArray(new TrainingListener[0]));
    return (data, end) -> {
      for (int epoch = 0; epoch < epochs; epoch++) {
        network.fit(data);
        end.epochEnded(network);
      }
    };
  }

  private Loop byHand(MultiLayerNetwork network, List<TrainingListener> listeners, int limit) {
    network.addListeners(listeners.toArray(new TrainingListener[0]));
    return (data, end) -> {
      for (int epoch = 0; epoch < epochs; epoch++) {
        int batches = 0;
        while (data.hasNext()) {
          network.fit(data.next());
          batches++;
          if (batches == limit) {
            break;
          }
        }
        data.reset();
        listeners.forEach(listener -> listener.onEpochEnd(network));
        end.epochEnded(network);
      }
    };
  }

  private Loop graph(ComputationGraph graph, List<TrainingListener> listeners) {
    graph.addListeners(listeners.toArray(new TrainingListener[0]));
    return (data, end) -> {
      for (int epoch = 0; epoch < epochs; epoch++) {
        graph.fit(data);
        end.epochEnded(graph);
      }
    };
  }

  private Loop earlyStopping(MultiLayerNetwork network, List<TrainingListener> listeners) {
    network.addListeners(listeners.toArray(new TrainingListener[0]));
    EarlyStoppingConfiguration<MultiLayerNetwork> configuration =
        new EarlyStoppingConfiguration.Builder<MultiLayerNetwork>()
            .scoreCalculator(new LastLoss())
            .epochTerminationConditions(new MaxEpochsTerminationCondition(epochs))
            .modelSaver(new InMemoryModelSaver<>())
            .build();
    return (data, end) -> {
      EarlyStoppingTrainer trainer = new EarlyStoppingTrainer(configuration, network, data);
      trainer.setListener(end);
      trainer.fit();
    };
  }

  private Loop parallel(MultiLayerNetwork network, List<TrainingListener> listeners) {
    return (data, end) -> {
      ParallelWrapper wrapper =
          new ParallelWrapper.Builder<>(network)
              .workers(2)
              .prefetchBuffer(2)
              .averagingFrequency(1)
              .build();
      wrapper.setListeners(listeners);
      for (int epoch = 0; epoch < epochs; epoch++) {
        wrapper.fit(data);
        end.epochEnded(network);
      }
      wrapper.shutdown();
    };
  }

  /** Scores an epoch by its last batch, because held-out pictures are optional here. */
  private static final class LastLoss implements ScoreCalculator<MultiLayerNetwork> {
    @Override
    public double calculateScore(MultiLayerNetwork network) {
      return network.score();
    }

    @Override
    public boolean minimizeScore() {
      return true;
    }
  }

  /** Prints one line per epoch, and ends the epoch in the log. */
  private static final class EpochEnd implements EarlyStoppingListener<MultiLayerNetwork> {
    private final BatchLog log;
    private final DataSetIterator heldOut;
    private long start = System.nanoTime();
    private int epoch;

    EpochEnd(BatchLog log, DataSetIterator heldOut) {
      this.log = log;
      this.heldOut = heldOut;
      if (log != null) {
        log.beginEpoch();
      }
    }

    void epochEnded(Model model) {
      epoch++;
      long now = System.nanoTime();
      System.out.printf(
          Locale.ROOT,
          "epoch %d: %.1f s, loss %.4f%s%n",
          epoch,
          (now - start) / 1e9,
          model.score(),
          heldOut == null ? "" : String.format(Locale.ROOT, ", accuracy %.4f", accuracy(model)));
      if (log != null) {
        log.endEpoch();
      }
      start = now;
    }

    private double accuracy(Model model) {
      return model instanceof ComputationGraph graph
          ? graph.<Evaluation>evaluate(heldOut).accuracy()
          : ((MultiLayerNetwork) model).<Evaluation>evaluate(heldOut).accuracy();
    }

    @Override
    public void onStart(
        EarlyStoppingConfiguration<MultiLayerNetwork> configuration, MultiLayerNetwork network) {}

    @Override
    public void onEpoch(
        int epochOfTrainer,
        double score,
        EarlyStoppingConfiguration<MultiLayerNetwork> configuration,
        MultiLayerNetwork network) {
      epochEnded(network);
    }

    @Override
    public void onCompletion(EarlyStoppingResult<MultiLayerNetwork> result) {}
  }
}
