package example.truth;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.training.loss.Loss;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A DJL program whose ingestion, preparation and fetch rates are known because it sleeps for given
 * times. Arguments: see {@link Rates}; the program is {@code serial}, or {@code pool1} to {@code
 * pool9}.
 */
public final class DjlRates {
  private DjlRates() {}

  /** Trains until the process is stopped, for at most {@link Rates#EPOCHS} epochs. */
  public static void main(String[] args) throws IOException, TranslateException {
    Rates rates = Rates.of(args);
    int threads = 0;
    if (rates.program().matches("pool[1-9]")) {
      threads = rates.program().charAt(4) - '0';
    } else if (!rates.program().equals("serial")) {
      throw new IllegalArgumentException(
          "Program " + rates.program() + " is unknown, expected serial or pool1 to pool9.");
    }
    rates.print(threads);
    ExecutorService pool = threads > 0 ? Executors.newFixedThreadPool(threads) : null;
    try (Model model = Model.newInstance("linear")) {
      model.setBlock(new SequentialBlock().add(Linear.builder().setUnits(1).build()));
      DefaultTrainingConfig config = new DefaultTrainingConfig(Loss.l2Loss());
      if (pool != null) {
        config.optExecutorService(pool);
      }
      try (Trainer trainer = model.newTrainer(config)) {
        trainer.initialize(new Shape(Rates.EXAMPLES, 1));
        SlowData.Builder data = new SlowData.Builder().rates(rates);
        if (pool != null) {
          data.optPrefetchNumber(2 * threads);
        }
        train(trainer, data.setSampling(Rates.EXAMPLES, true).build(), rates);
      }
    } finally {
      if (pool != null) {
        pool.shutdown();
      }
    }
  }

  private static void train(Trainer trainer, SlowData data, Rates rates)
      throws IOException, TranslateException {
    for (int epoch = 0; epoch < Rates.EPOCHS; epoch++) {
      for (Batch batch : trainer.iterateDataset(data)) {
        float[] values = batch.getData().head().toFloatArray();
        float[] labels = batch.getLabels().head().toFloatArray();
        long end = Pause.now() + (long) rates.stepMillis() * values.length * 1_000_000;
        EasyTrain.trainBatch(trainer, batch);
        trainer.step();
        batch.close();
        rates.endStep(values, labels, end);
      }
    }
  }

  /** A custom data set over files. */
  private static final class SlowData extends RandomAccessDataset {
    private final Rates rates;
    private final SlowStorage storage;

    SlowData(Builder builder) {
      super(builder);
      rates = builder.rates;
      storage = rates.storage();
    }

    @Override
    public Record get(NDManager manager, long index) {
      return rates.load(
          storage,
          Math.toIntExact(index),
          value ->
              new Record(
                  new NDList(manager.create(new float[] {value})),
                  new NDList(manager.create(new float[] {Rates.label(value)}))));
    }

    @Override
    protected long availableSize() {
      return (long) Rates.BATCHES * Rates.EXAMPLES;
    }

    @Override
    public void prepare(Progress progress) {}

    static final class Builder extends BaseBuilder<Builder> {
      private Rates rates;

      Builder rates(Rates newRates) {
        rates = newRates;
        return this;
      }

      SlowData build() {
        return new SlowData(this);
      }

      @Override
      protected Builder self() {
        return this;
      }
    }
  }
}
