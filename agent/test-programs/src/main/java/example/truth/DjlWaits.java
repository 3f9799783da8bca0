package example.truth;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.training.listener.TrainingListenerAdapter;
import ai.djl.training.loss.Loss;
import ai.djl.translate.Batchifier;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.TranslatorContext;
import ai.djl.util.Progress;
import java.io.IOException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Trains, or only predicts, with one of DJL's APIs on data that takes a known time per batch.
 * Prints its waits as one line of JSON. Arguments: {@code PROGRAM [PREP_MILLIS STEP_MILLIS BATCHES
 * EPOCHS]}.
 */
public final class DjlWaits {
  private static final int EXAMPLES = 4;
  private static final int INPUTS = 8;

  private final Settings settings;

  private DjlWaits(Settings settings) {
    this.settings = settings;
  }

  /** Runs one program. */
  public static void main(String[] args) throws IOException, TranslateException {
    Settings settings = Settings.of(args);
    new DjlWaits(settings).run().print();
  }

  private Waits run() throws IOException, TranslateException {
    return switch (settings.program()) {
      case "easytrain" -> easyTrain(0);
      case "easytrain-pool" -> easyTrain(1);
      case "easytrain-pool2" -> easyTrain(2);
      case "hand" -> hand(0);
      case "hand-pool" -> hand(1);
      case "collector" -> withoutTrainer(true);
      case "forward" -> withoutTrainer(false);
      case "lambda" -> lambda(false);
      case "lambda-hand" -> lambda(true);
      default ->
          throw new IllegalArgumentException(
              "Program "
                  + settings.program()
                  + " is unknown; expected easytrain, easytrain-pool, easytrain-pool2, hand,"
                  + " hand-pool, collector, forward, lambda or lambda-hand.");
    };
  }

  /** EasyTrain takes batches from the program's data set, which times the calls. */
  private Waits easyTrain(int threads) throws IOException, TranslateException {
    Waits waits = Waits.timed(settings);
    Dataset data = new TimedData(data(waits), waits);
    train(threads, waits, trainer -> EasyTrain.fit(trainer, settings.epochs(), data, null));
    return waits;
  }

  private Waits hand(int threads) throws IOException, TranslateException {
    Waits waits = Waits.timed(settings);
    train(threads, waits, trainer -> fitByHand(trainer, data(waits), waits));
    return waits;
  }

  /**
   * A loop over {@code getData} that trains with the engine's gradient collector, or only predicts.
   */
  private Waits withoutTrainer(boolean trains) throws IOException, TranslateException {
    Waits waits = Waits.timed(settings);
    RandomAccessDataset data = data(waits);
    try (NDManager manager = NDManager.newBaseManager();
        Model model = Model.newInstance("linear");
        Predictor<NDList, NDList> predictor = model(model, manager).newPredictor(new Plain())) {
      NDArray weight = model.getBlock().getParameters().get(0).getValue().getArray();
      for (int epoch = 0; epoch < settings.epochs(); epoch++) {
        oneEpoch(
            data.getData(manager),
            waits,
            batch -> {
              if (trains) {
                weight.setRequiresGradient(true);
                try (GradientCollector gradients = Engine.getInstance().newGradientCollector()) {
                  gradients.backward(batch.getData().head().mul(weight).mean());
                }
                weight.subi(weight.getGradient().mul(0.1));
              } else {
                predictor.predict(batch.getData());
              }
              Pause.millis(settings.stepMillis());
              waits.stepEnded();
            });
      }
    }
    return waits;
  }

  private static Model model(Model model, NDManager manager) {
    SequentialBlock block = new SequentialBlock().add(Linear.builder().setUnits(1).build());
    block.initialize(manager, DataType.FLOAT32, new Shape(EXAMPLES, INPUTS));
    model.setBlock(block);
    return model;
  }

  /** Passes batches through unchanged. */
  private static final class Plain implements NoBatchifyTranslator<NDList, NDList> {
    @Override
    public NDList processInput(TranslatorContext context, NDList input) {
      return input;
    }

    @Override
    public NDList processOutput(TranslatorContext context, NDList list) {
      list.detach();
      return list;
    }
  }

  private Waits lambda(boolean byHand) throws IOException, TranslateException {
    Waits waits = byHand ? Waits.timed(settings) : Waits.fromTimestamps(settings, false, 1);
    LambdaData data = new LambdaData(settings, waits);
    train(
        0,
        waits,
        byHand
            ? trainer -> fitByHand(trainer, data, waits)
            : trainer -> EasyTrain.fit(trainer, settings.epochs(), data, null));
    return waits;
  }

  private void fitByHand(Trainer trainer, Dataset data, Waits waits)
      throws IOException, TranslateException {
    for (int epoch = 0; epoch < settings.epochs(); epoch++) {
      oneEpoch(
          trainer.iterateDataset(data),
          waits,
          batch -> {
            EasyTrain.trainBatch(trainer, batch);
            trainer.step();
          });
      trainer.notifyListeners(listener -> listener.onEpoch(trainer));
    }
  }

  private interface Step {
    void run(Batch batch) throws IOException, TranslateException;
  }

  /** Times every request for a batch. */
  private static void oneEpoch(Iterable<Batch> source, Waits waits, Step step)
      throws IOException, TranslateException {
    Iterator<Batch> batches = source.iterator();
    while (true) {
      long before = System.nanoTime();
      Batch batch = batches.hasNext() ? batches.next() : null;
      waits.waited(System.nanoTime() - before);
      if (batch == null) {
        break;
      }
      step.run(batch);
      batch.close();
    }
    waits.epochEnded();
  }

  private interface Loop {
    void run(Trainer trainer) throws IOException, TranslateException;
  }

  private void train(int threads, Waits waits, Loop loop) throws IOException, TranslateException {
    ExecutorService pool = threads > 0 ? Executors.newFixedThreadPool(threads) : null;
    try (Model model = Model.newInstance("linear")) {
      model.setBlock(new SequentialBlock().add(Linear.builder().setUnits(1).build()));
      DefaultTrainingConfig config =
          new DefaultTrainingConfig(Loss.l2Loss())
              .addTrainingListeners(new SleepyStep(settings, waits));
      if (pool != null) {
        config.optExecutorService(pool);
      }
      try (Trainer trainer = model.newTrainer(config)) {
        trainer.initialize(new Shape(EXAMPLES, INPUTS));
        loop.run(trainer);
      }
    } finally {
      if (pool != null) {
        pool.shutdown();
      }
    }
  }

  private SleepyData data(Waits waits) {
    return new SleepyData.Builder().settings(settings, waits).setSampling(EXAMPLES, false).build();
  }

  /** Sleeps for a known time in each step. */
  private static final class SleepyStep extends TrainingListenerAdapter {
    private final Settings settings;
    private final Waits waits;

    SleepyStep(Settings settings, Waits waits) {
      this.settings = settings;
      this.waits = waits;
    }

    @Override
    public void onTrainingBatch(Trainer trainer, BatchData batchData) {
      Pause.millis(settings.stepMillis());
      waits.stepEnded();
    }
  }

  /** A custom data set; preparing a batch's first sample takes the time of the whole batch. */
  private static final class SleepyData extends RandomAccessDataset {
    private final Settings settings;
    private final Waits waits;

    SleepyData(Builder builder) {
      super(builder);
      settings = builder.settings;
      waits = builder.waits;
    }

    @Override
    public Record get(NDManager manager, long index) {
      int batch = Math.toIntExact(index / EXAMPLES);
      long begun = System.nanoTime();
      if (index % EXAMPLES == 0) {
        Hang.hangIfDue(settings);
        Pause.millis(settings.prepMillis());
      }
      Record sample =
          new Record(
              new NDList(manager.ones(new Shape(INPUTS))),
              new NDList(manager.create(new float[] {batch % 2})));
      waits.produced(batch, begun, System.nanoTime());
      return sample;
    }

    @Override
    protected long availableSize() {
      return (long) settings.batches() * EXAMPLES;
    }

    /** DJL calls this before every epoch. */
    @Override
    public void prepare(Progress progress) {
      waits.restart();
    }

    static final class Builder extends BaseBuilder<Builder> {
      private Settings settings;
      private Waits waits;

      Builder settings(Settings newSettings, Waits newWaits) {
        settings = newSettings;
        waits = newWaits;
        return this;
      }

      SleepyData build() {
        return new SleepyData(this);
      }

      @Override
      protected Builder self() {
        return this;
      }
    }
  }

  /** A custom data set that wraps another and times every hasNext and next of a loop. */
  private record TimedData(Dataset data, Waits waits) implements Dataset {
    @Override
    public Iterable<Batch> getData(NDManager manager) throws IOException, TranslateException {
      return timed(data.getData(manager));
    }

    @Override
    public Iterable<Batch> getData(NDManager manager, ExecutorService pool)
        throws IOException, TranslateException {
      return timed(data.getData(manager, pool));
    }

    private Iterable<Batch> timed(Iterable<Batch> batches) {
      return () -> new TimedIterator(batches.iterator(), waits);
    }

    @Override
    public void prepare(Progress progress) throws IOException, TranslateException {
      data.prepare(progress);
    }
  }

  private record TimedIterator(Iterator<Batch> batches, Waits waits) implements Iterator<Batch> {
    @Override
    public boolean hasNext() {
      long begun = System.nanoTime();
      boolean more = batches.hasNext();
      waits.waited(System.nanoTime() - begun);
      return more;
    }

    @Override
    public Batch next() {
      long begun = System.nanoTime();
      Batch batch = batches.next();
      waits.waited(System.nanoTime() - begun);
      return batch;
    }
  }

  /** A data set whose batches come from a lambda. */
  private record LambdaData(Settings settings, Waits waits) implements Dataset {
    @Override
    public Iterable<Batch> getData(NDManager manager) {
      waits.restart();
      return () ->
          new Iterator<>() {
            private int next;

            @Override
            public boolean hasNext() {
              return next < settings.batches();
            }

            @Override
            public Batch next() {
              if (!hasNext()) {
                throw new NoSuchElementException();
              }
              long begun = System.nanoTime();
              Pause.millis(settings.prepMillis());
              NDManager own = manager.newSubManager();
              Batch batch =
                  new Batch(
                      own,
                      new NDList(own.ones(new Shape(EXAMPLES, INPUTS))),
                      new NDList(own.zeros(new Shape(EXAMPLES, 1))),
                      EXAMPLES,
                      Batchifier.STACK,
                      Batchifier.STACK,
                      next,
                      settings.batches());
              waits.produced(next, begun, System.nanoTime());
              next++;
              return batch;
            }
          };
    }

    @Override
    public void prepare(Progress progress) {}
  }
}
