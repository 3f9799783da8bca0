package example.djl;

import ai.djl.Model;
import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.basicmodelzoo.cv.classification.ResNetV1;
import ai.djl.engine.Engine;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.RandomFlipLeftRight;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingResult;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.training.evaluator.Accuracy;
import ai.djl.training.listener.SaveModelTrainingListener;
import ai.djl.training.listener.TrainingListener;
import ai.djl.training.listener.TrainingListener.BatchData;
import ai.djl.training.listener.TrainingListenerAdapter;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Image classification with DJL: a folder of pictures, the usual augmentation, a small ResNet.
 *
 * <p>Arguments, each {@code --name value}:
 *
 * <ul>
 *   <li>{@code data}: folder with one folder of pictures per class (required); {@code validate}:
 *       another such folder, on which accuracy is measured after every epoch (default: on {@code
 *       data})
 *   <li>{@code epochs} (3), {@code batch} (32), {@code size} of the network's input (48), {@code
 *       layers} of the ResNet (18; if {@code size} is below 29, one of 8, 14, 20 and so on), {@code
 *       lr} (0.003)
 *   <li>{@code seed}: makes a run with {@code threads} 0 reproducible bit by bit
 *   <li>{@code threads}: 0 loads batches on the training thread, N on a pool, -1 on the common pool
 *   <li>{@code augment}: true (random crops and flips) or false (only resized); with both threads
 *       and augmentation, DJL's batches differ from run to run, because its threads share one
 *       random generator
 *   <li>{@code checkpoint}: folder for a model per epoch (default: not saved)
 *   <li>{@code log}: file for the lines of {@link BatchLog}
 *   <li>{@code loop}: easytrain or hand; {@code limit}: leave an epoch of the hand-written loop
 *       after this many batches (0: never)
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
          "layers",
          "seed",
          "lr",
          "threads",
          "augment",
          "checkpoint",
          "log",
          "loop",
          "limit");

  private final Options options;
  private final int epochs;
  private final int size;

  private TrainImages(Options options) {
    this.options = options;
    epochs = options.number("epochs", 3);
    size = options.number("size", 48);
  }

  /** Trains according to the arguments; if they are wrong, prints a sentence and exits with 2. */
  public static void main(String[] args) throws IOException, TranslateException {
    try {
      new TrainImages(new Options(NAMES, args)).train();
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
    }
  }

  private void train() throws IOException, TranslateException {
    Path data = folder("data");
    if (options.path("seed").isPresent()) {
      Engine.getInstance().setRandomSeed(options.number("seed", 0));
    }
    ImageFolder pictures =
        pictures(data, true, Boolean.parseBoolean(options.text("augment", "true")));
    ImageFolder heldOut =
        options.path("validate").isPresent() ? pictures(folder("validate"), false, false) : null;
    ExecutorService pool = pool(options.number("threads", 0));
    try (Model model = Model.newInstance("resnet")) {
      model.setBlock(
          ResNetV1.builder()
              .setImageShape(new Shape(3, size, size))
              .setNumLayers(options.number("layers", 18))
              .setOutSize(pictures.getSynset().size())
              .build());
      DefaultTrainingConfig config = config(pool);
      Path log = options.path("log").orElse(null);
      try (BatchLog batchLog = log == null ? null : new BatchLog(log)) {
        if (batchLog != null) {
          config.addTrainingListeners(batchLog);
        }
        try (Trainer trainer = model.newTrainer(config)) {
          trainer.initialize(new Shape(1, 3, size, size));
          switch (options.text("loop", "easytrain")) {
            case "easytrain" -> EasyTrain.fit(trainer, epochs, pictures, heldOut);
            case "hand" -> fitByHand(trainer, pictures, heldOut, options.number("limit", 0));
            default ->
                throw new IllegalArgumentException(
                    "--loop is " + options.text("loop", "") + ", expected easytrain or hand.");
          }
        }
      }
    } finally {
      if (pool != null) {
        pool.shutdown();
      }
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

  private ImageFolder pictures(Path data, boolean shuffle, boolean augment)
      throws IOException, TranslateException {
    ImageFolder.Builder builder =
        ImageFolder.builder()
            .setRepositoryPath(data)
            .optMaxDepth(2)
            .setSampling(options.number("batch", 32), shuffle);
    if (augment) {
      builder.addTransform(new RandomResizedCrop(size, size));
      builder.addTransform(new RandomFlipLeftRight());
    } else {
      builder.addTransform(new Resize(size, size));
    }
    ImageFolder pictures =
        builder
            .addTransform(new ToTensor())
            .addTransform(
                new Normalize(new float[] {.485f, .456f, .406f}, new float[] {.229f, .224f, .225f}))
            .build();
    pictures.prepare();
    return pictures;
  }

  private static ExecutorService pool(int threads) {
    return threads > 0 ? Executors.newFixedThreadPool(threads) : null;
  }

  private DefaultTrainingConfig config(ExecutorService pool) {
    DefaultTrainingConfig config =
        new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
            .addEvaluator(new Accuracy())
            .optOptimizer(
                Optimizer.sgd()
                    .setLearningRateTracker(Tracker.fixed(options.fraction("lr", 0.003f)))
                    .optMomentum(0.9f)
                    .build())
            .addTrainingListeners(TrainingListener.Defaults.basic());
    if (pool != null) {
      config.optExecutorService(pool);
    } else if (options.number("threads", 0) < 0) {
      config.optExecutorService();
    }
    options
        .path("checkpoint")
        .ifPresent(
            folder ->
                config.addTrainingListeners(
                    new SaveModelTrainingListener(folder.toString(), "resnet", 1)));
    return config.addTrainingListeners(new EpochLines(options.path("validate").isPresent()));
  }

  /** Trains with the loop that DJL's guide shows for cases that EasyTrain does not cover. */
  private void fitByHand(Trainer trainer, Dataset dataset, Dataset heldOut, int limit)
      throws IOException, TranslateException {
    trainer.notifyListeners(listener -> listener.onTrainingBegin(trainer));
    for (int epoch = 0; epoch < epochs; epoch++) {
      int batches = 0;
      for (Batch batch : trainer.iterateDataset(dataset)) {
        step(trainer, batch);
        batch.close();
        batches++;
        if (batches == limit) {
          break;
        }
      }
      if (heldOut != null) {
        EasyTrain.evaluateDataset(trainer, heldOut);
      }
      trainer.notifyListeners(listener -> listener.onEpoch(trainer));
    }
    trainer.notifyListeners(listener -> listener.onTrainingEnd(trainer));
  }

  private static void step(Trainer trainer, Batch batch) {
    BatchData seen = new BatchData(batch, new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
    try (GradientCollector collector = trainer.newGradientCollector()) {
      for (Batch part : batch.split(trainer.getDevices(), false)) {
        NDList predictions = trainer.forward(part.getData(), part.getLabels());
        NDArray loss = trainer.getLoss().evaluate(part.getLabels(), predictions);
        collector.backward(loss);
        seen.getLabels().put(part.getLabels().get(0).getDevice(), part.getLabels());
        seen.getPredictions().put(part.getLabels().get(0).getDevice(), predictions);
      }
    }
    trainer.notifyListeners(listener -> listener.onTrainingBatch(trainer, seen));
    trainer.step();
  }

  /**
   * Prints one line per epoch, with the accuracy on held-out pictures or, without them, on the
   * training pictures.
   */
  private static final class EpochLines extends TrainingListenerAdapter {
    private final boolean hasHeldOut;
    private long start = System.nanoTime();
    private int epoch;

    EpochLines(boolean hasHeldOut) {
      this.hasHeldOut = hasHeldOut;
    }

    @Override
    public void onTrainingBegin(Trainer trainer) {
      start = System.nanoTime();
    }

    @Override
    public void onEpoch(Trainer trainer) {
      epoch++;
      long now = System.nanoTime();
      TrainingResult result = trainer.getTrainingResult();
      System.out.printf(
          Locale.ROOT,
          "epoch %d: %.1f s, loss %.4f, accuracy %.4f%n",
          epoch,
          (now - start) / 1e9,
          result.getTrainLoss(),
          hasHeldOut
              ? result.getValidateEvaluation("Accuracy")
              : result.getTrainEvaluation("Accuracy"));
      start = now;
    }
  }
}
