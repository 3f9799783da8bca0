package example.truth;

import org.deeplearning4j.earlystopping.EarlyStoppingConfiguration;
import org.deeplearning4j.earlystopping.saver.InMemoryModelSaver;
import org.deeplearning4j.earlystopping.scorecalc.ScoreCalculator;
import org.deeplearning4j.earlystopping.termination.MaxEpochsTerminationCondition;
import org.deeplearning4j.earlystopping.trainer.EarlyStoppingTrainer;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.optimize.api.BaseTrainingListener;
import org.deeplearning4j.parallelism.ParallelWrapper;
import org.nd4j.autodiff.listeners.At;
import org.nd4j.autodiff.listeners.BaseListener;
import org.nd4j.autodiff.listeners.Loss;
import org.nd4j.autodiff.listeners.Operation;
import org.nd4j.autodiff.samediff.SDVariable;
import org.nd4j.autodiff.samediff.SameDiff;
import org.nd4j.autodiff.samediff.TrainingConfig;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.dataset.AsyncDataSetIterator;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.MultiDataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Sgd;
import org.nd4j.linalg.lossfunctions.LossFunctions;

/**
 * Trains with one of DL4J's training APIs, or in a hand-written loop, on an iterator that takes a
 * known time per batch. Prints its waits as one line of JSON. Arguments: {@code PROGRAM
 * [PREP_MILLIS STEP_MILLIS BATCHES EPOCHS]}.
 */
public final class Dl4jWaits {
  private final Settings settings;

  private Dl4jWaits(Settings settings) {
    this.settings = settings;
  }

  /** Runs one program. */
  public static void main(String[] args) {
    Settings settings = Settings.of(args);
    new Dl4jWaits(settings).run().print();
  }

  private Waits run() {
    return switch (settings.program()) {
      case "fit" -> fit(Loading.PREFETCHED);
      case "fit-timed" -> fit(Loading.PREFETCHED_AND_TIMED);
      case "fit-plain" -> fit(Loading.PLAIN);
      case "graph" -> graph(Loading.PREFETCHED);
      case "graph-timed" -> graph(Loading.PREFETCHED_AND_TIMED);
      case "graph-plain" -> graph(Loading.PLAIN);
      case "hand" -> hand(false);
      case "hand-async" -> hand(true);
      case "hand-read" -> hand(false);
      case "earlystopping" -> earlyStopping(Loading.PREFETCHED);
      case "earlystopping-timed" -> earlyStopping(Loading.PREFETCHED_AND_TIMED);
      case "earlystopping-plain" -> earlyStopping(Loading.PLAIN);
      case "parallelwrapper" -> parallelWrapper(Loading.PREFETCHED);
      case "parallelwrapper-timed" -> parallelWrapper(Loading.PREFETCHED_AND_TIMED);
      case "samediff" -> sameDiff(Loading.PREFETCHED);
      case "samediff-timed" -> sameDiff(Loading.PREFETCHED_AND_TIMED);
      default ->
          throw new IllegalArgumentException(
              "Program "
                  + settings.program()
                  + " is unknown; expected fit, graph or earlystopping (alone, with -timed or with"
                  + " -plain), parallelwrapper or samediff (alone or with -timed), hand,"
                  + " hand-async or hand-read.");
    };
  }

  /** Which thread produces the batches, and how {@link Waits} measures the waits. */
  private enum Loading {
    /**
     * The training thread; waits are computed {@linkplain Waits#fromTimestamps from timestamps}.
     */
    PLAIN,
    /** The framework's prefetch thread; waits are computed from timestamps. */
    PREFETCHED,
    /** The program's prefetch thread, behind an iterator that times the loop's calls. */
    PREFETCHED_AND_TIMED
  }

  private Waits waits(Loading loading, int workers) {
    return loading == Loading.PREFETCHED_AND_TIMED
        ? Waits.timed(settings)
        : Waits.fromTimestamps(settings, loading == Loading.PREFETCHED, workers);
  }

  private DataSetIterator data(Loading loading, Waits waits) {
    return switch (loading) {
      case PLAIN -> new SleepyIterator(settings, waits, false);
      case PREFETCHED -> new SleepyIterator(settings, waits, true);
      case PREFETCHED_AND_TIMED ->
          new TimedRequests(
              new AsyncDataSetIterator(new SleepyIterator(settings, waits, true), 2), waits);
    };
  }

  private Waits fit(Loading loading) {
    Waits waits = waits(loading, 1);
    MultiLayerNetwork network = network();
    network.setListeners(new SleepyStep(settings, waits));
    network.fit(data(loading, waits), settings.epochs());
    return waits;
  }

  private Waits graph(Loading loading) {
    Waits waits = waits(loading, 1);
    ComputationGraph graph = network().toComputationGraph();
    graph.setListeners(new SleepyStep(settings, waits));
    graph.fit(data(loading, waits), settings.epochs());
    return waits;
  }

  /** A hand-written loop that times its own calls. */
  private Waits hand(boolean async) {
    Waits waits = Waits.timed(settings);
    MultiLayerNetwork network = network();
    network.setListeners(new SleepyStep(settings, waits));
    for (int epoch = 0; epoch < settings.epochs(); epoch++) {
      DataSetIterator data = new SleepyIterator(settings, waits, async);
      DataSetIterator source = async ? new AsyncDataSetIterator(data, 2) : data;
      while (true) {
        long before = System.nanoTime();
        DataSet batch = source.hasNext() ? source.next() : null;
        waits.waited(System.nanoTime() - before);
        if (batch == null) {
          break;
        }
        network.fit(batch);
      }
      waits.epochEnded();
    }
    return waits;
  }

  private Waits earlyStopping(Loading loading) {
    Waits waits = waits(loading, 1);
    MultiLayerNetwork network = network();
    network.setListeners(new SleepyStep(settings, waits));
    EarlyStoppingConfiguration<MultiLayerNetwork> configuration =
        new EarlyStoppingConfiguration.Builder<MultiLayerNetwork>()
            .epochTerminationConditions(new MaxEpochsTerminationCondition(settings.epochs()))
            .scoreCalculator(new LastLoss())
            .modelSaver(new InMemoryModelSaver<>())
            .build();
    new EarlyStoppingTrainer(configuration, network, data(loading, waits)).fit();
    return waits;
  }

  private Waits parallelWrapper(Loading loading) {
    int workers = 2;
    Waits waits = waits(loading, workers);
    ParallelWrapper wrapper =
        new ParallelWrapper.Builder<>(network())
            .workers(workers)
            .prefetchBuffer(workers)
            .averagingFrequency(1)
            .build();
    wrapper.setListeners(new SleepyStep(settings, waits));
    DataSetIterator data = data(loading, waits);
    for (int epoch = 0; epoch < settings.epochs(); epoch++) {
      wrapper.fit(data);
    }
    wrapper.shutdown();
    return waits;
  }

  private Waits sameDiff(Loading loading) {
    Waits waits = waits(loading, 1);
    SameDiff graph = SameDiff.create();
    SDVariable input = graph.placeHolder("input", DataType.FLOAT, -1, SleepyIterator.INPUTS);
    SDVariable label = graph.placeHolder("label", DataType.FLOAT, -1, SleepyIterator.CLASSES);
    SDVariable weights =
        graph.var(
            "weights", Nd4j.ones(DataType.FLOAT, SleepyIterator.INPUTS, SleepyIterator.CLASSES));
    SDVariable logits = input.mmul("logits", weights);
    graph.loss.softmaxCrossEntropy("loss", label, logits, null);
    graph.setLossVariables("loss");
    graph.setTrainingConfig(
        TrainingConfig.builder()
            .updater(new Sgd(0.01))
            .dataSetFeatureMapping("input")
            .dataSetLabelMapping("label")
            .build());
    graph.setListeners(
        new BaseListener() {
          @Override
          public boolean isActive(Operation operation) {
            return operation == Operation.TRAINING;
          }

          @Override
          public void iterationDone(SameDiff sd, At at, MultiDataSet data, Loss loss) {
            Pause.millis(settings.stepMillis());
            waits.stepEnded();
          }
        });
    graph.fit(data(loading, waits), settings.epochs());
    return waits;
  }

  private static MultiLayerNetwork network() {
    MultiLayerConfiguration configuration =
        new NeuralNetConfiguration.Builder()
            .seed(1)
            .updater(new Sgd(0.01))
            .list()
            .layer(
                new DenseLayer.Builder()
                    .nIn(SleepyIterator.INPUTS)
                    .nOut(8)
                    .activation(Activation.TANH)
                    .build())
            .layer(
                new OutputLayer.Builder(LossFunctions.LossFunction.MCXENT)
                    .nIn(8)
                    .nOut(SleepyIterator.CLASSES)
                    .activation(Activation.SOFTMAX)
                    .build())
            .build();
    MultiLayerNetwork network = new MultiLayerNetwork(configuration);
    network.init();
    return network;
  }

  /** Sleeps for a known time in each step. */
  private static final class SleepyStep extends BaseTrainingListener {
    private final Settings settings;
    private final Waits waits;

    SleepyStep(Settings settings, Waits waits) {
      this.settings = settings;
      this.waits = waits;
    }

    @Override
    public void iterationDone(Model model, int iteration, int epoch) {
      Pause.millis(settings.stepMillis());
      waits.stepEnded();
    }
  }

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
}
