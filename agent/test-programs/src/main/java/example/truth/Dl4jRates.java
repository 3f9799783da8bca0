package example.truth;

import java.util.List;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.optimize.api.BaseTrainingListener;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Sgd;
import org.nd4j.linalg.lossfunctions.LossFunctions;

/**
 * A DL4J program whose ingestion, preparation and fetch rates are known because it sleeps for given
 * times. Arguments: see {@link Rates}; the program is {@code serial} or {@code prefetched} (by
 * DL4J's own thread).
 */
public final class Dl4jRates {
  private Dl4jRates() {}

  /** Trains until the process is stopped, for at most {@link Rates#EPOCHS} epochs. */
  public static void main(String[] args) {
    Rates rates = Rates.of(args);
    boolean serial = rates.program().equals("serial");
    if (!serial && !rates.program().equals("prefetched")) {
      throw new IllegalArgumentException(
          "Program " + rates.program() + " is unknown, expected serial or prefetched.");
    }
    rates.print(serial ? 0 : 1);
    MultiLayerNetwork network =
        new MultiLayerNetwork(
            new NeuralNetConfiguration.Builder()
                .updater(new Sgd(1e-9))
                .list()
                .layer(
                    new OutputLayer.Builder(LossFunctions.LossFunction.MSE)
                        .nIn(1)
                        .nOut(1)
                        .activation(Activation.IDENTITY)
                        .build())
                .build());
    network.init();
    SlowBatches batches = new SlowBatches(rates, !serial);
    network.setListeners(new SlowStep(rates));
    network.fit(batches, Rates.EPOCHS);
  }

  /** Makes each step last a known time, from the forward pass to the end of the iteration. */
  private static final class SlowStep extends BaseTrainingListener {
    private final Rates rates;
    private long started;
    private float[] values = {};
    private float[] labels = {};

    SlowStep(Rates rates) {
      this.rates = rates;
    }

    @Override
    public void onForwardPass(Model model, List<INDArray> activations) {
      started = Pause.now();
      MultiLayerNetwork network = (MultiLayerNetwork) model;
      values = network.getInput().dup().data().asFloat();
      labels = network.getLabels().dup().data().asFloat();
    }

    @Override
    public void iterationDone(Model model, int iteration, int epoch) {
      rates.endStep(
          values, labels, started + (long) rates.stepMillis() * values.length * 1_000_000);
    }
  }

  /** A custom iterator over files. */
  private static final class SlowBatches implements DataSetIterator {
    private final Rates rates;
    private final SlowStorage storage;
    private final boolean async;
    private volatile int next;

    SlowBatches(Rates rates, boolean async) {
      this.rates = rates;
      this.storage = rates.storage();
      this.async = async;
    }

    @Override
    public boolean hasNext() {
      return next < Rates.BATCHES;
    }

    @Override
    public DataSet next() {
      return next(Rates.EXAMPLES);
    }

    @Override
    public DataSet next(int examples) {
      int batch = next;
      next = batch + 1;
      float[][] values = new float[examples][1];
      float[][] labels = new float[examples][1];
      for (int i = 0; i < examples; i++) {
        values[i][0] = rates.load(storage, batch * Rates.EXAMPLES + i, value -> value);
        labels[i][0] = Rates.label(values[i][0]);
      }
      return new DataSet(Nd4j.create(values), Nd4j.create(labels));
    }

    @Override
    public void reset() {
      next = 0;
    }

    @Override
    public boolean resetSupported() {
      return true;
    }

    @Override
    public boolean asyncSupported() {
      return async;
    }

    @Override
    public int inputColumns() {
      return 1;
    }

    @Override
    public int totalOutcomes() {
      return 1;
    }

    @Override
    public int batch() {
      return Rates.EXAMPLES;
    }

    @Override
    public void setPreProcessor(DataSetPreProcessor preProcessor) {
      throw new UnsupportedOperationException("This iterator has no preprocessor.");
    }

    @Override
    public DataSetPreProcessor getPreProcessor() {
      return null;
    }

    @Override
    public List<String> getLabels() {
      return null;
    }
  }
}
