package example.resume;

import ai.djl.Model;
import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.basicmodelzoo.basic.Mlp;
import ai.djl.metric.Metrics;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.repository.Repository;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.evaluator.Accuracy;
import ai.djl.training.listener.SaveModelTrainingListener;
import ai.djl.training.listener.TrainingListener;
import ai.djl.training.listener.TrainingListenerAdapter;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.util.Pair;
import java.awt.image.BufferedImage;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;

/**
 * Small jobs that shuffle and follow a learning-rate schedule; some crop at random. Arguments:
 * {@code PROGRAM FOLDER [HALT]}; the JVM halts at batch HALT, before its step. Prints a checksum of
 * the weights at each batch, after each epoch and at the end.
 */
public final class DjlJobs {
  private static final int EPOCHS = 5;
  private static final int ITEMS = 105;
  private static final int BATCH = 10;
  private static final int COLUMNS = 6;
  private static final int CLASSES = 3;
  private static final int SIDE = 12;

  private final Path folder;
  private final int halt;
  private int step;

  private DjlJobs(Path folder, int halt) {
    this.folder = folder;
    this.halt = halt;
  }

  public static void main(String[] args) throws Exception {
    new DjlJobs(Path.of(args[1]), args.length > 2 ? Integer.parseInt(args[2]) : -1).run(args[0]);
  }

  private void run(String program) throws Exception {
    boolean images = program.startsWith("images");
    ExecutorService executor =
        program.endsWith("executor") ? Executors.newFixedThreadPool(2) : null;
    try (Model model = Model.newInstance("mlp", "PyTorch")) {
      model.getNDManager().getEngine().setRandomSeed(7);
      int inputs = images ? 3 * SIDE * SIDE : COLUMNS;
      model.setBlock(new Mlp(inputs, CLASSES, new int[] {16}));
      DefaultTrainingConfig config =
          new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
              .addEvaluator(new Accuracy())
              .optOptimizer(
                  Optimizer.adam()
                      .optLearningRateTracker(
                          Tracker.factor().setBaseValue(0.02f).setFactor(0.97f).build())
                      .build())
              .addTrainingListeners(TrainingListener.Defaults.basic());
      if (executor != null) {
        config.optExecutorService(executor);
      }
      if (program.equals("saved")) {
        config.addTrainingListeners(
            new SaveModelTrainingListener(folder.resolve("saved").toString(), "mlp", 1));
      }
      config.addTrainingListeners(new Steps());
      try (Trainer trainer = model.newTrainer(config);
          NDManager manager = model.getNDManager().newSubManager()) {
        trainer.setMetrics(new Metrics());
        trainer.initialize(new Shape(BATCH, inputs));
        RandomAccessDataset data = images ? images(program.contains("cropped")) : arrays(manager);
        if (program.equals("hand")) {
          byHand(trainer, data);
        } else {
          EasyTrain.fit(trainer, EPOCHS, data, images ? null : arrays(manager));
        }
        System.out.println("epochs " + trainer.getTrainingResult().getEpoch());
        System.out.println("weights " + weights(trainer));
      }
    } finally {
      if (executor != null) {
        executor.shutdown();
      }
    }
  }

  private void byHand(Trainer trainer, RandomAccessDataset data) throws Exception {
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      int batches = 0;
      for (Batch batch : trainer.iterateDataset(data)) {
        EasyTrain.trainBatch(trainer, batch);
        if (++batches % 2 == 0) {
          trainer.step();
        }
        batch.close();
      }
      trainer.notifyListeners(listener -> listener.onEpoch(trainer));
      if (trainer.getTrainingResult().getTrainLoss() == null) {
        throw new IllegalStateException("an epoch without a loss");
      }
      trainer.getModel().setProperty("Epoch", Integer.toString(epoch + 1));
      trainer.getModel().save(folder.resolve("kept"), "mlp");
    }
  }

  private static long weights(Trainer trainer) {
    CRC32 sum = new CRC32();
    for (Pair<String, Parameter> named : trainer.getModel().getBlock().getParameters()) {
      sum.update(named.getValue().getArray().toByteBuffer());
    }
    return sum.getValue();
  }

  private final class Steps extends TrainingListenerAdapter {
    @Override
    public void onTrainingBatch(Trainer trainer, BatchData data) {
      NDArray first = data.getBatch().getData().head();
      CRC32 sum = new CRC32();
      sum.update(first.toByteBuffer());
      System.out.println("batch " + sum.getValue() + " with weights " + weights(trainer));
      if (++step == halt) {
        System.out.flush();
        Runtime.getRuntime().halt(9);
      }
    }

    @Override
    public void onEpoch(Trainer trainer) {
      System.out.println("epoch ends with weights " + weights(trainer));
    }
  }

  private static float value(int i) {
    return (float) Math.sin(i * 0.37);
  }

  private static RandomAccessDataset arrays(NDManager manager) {
    float[] features = new float[ITEMS * COLUMNS];
    float[] labels = new float[ITEMS];
    for (int i = 0; i < features.length; i++) {
      features[i] = value(i);
    }
    for (int i = 0; i < ITEMS; i++) {
      labels[i] = i % CLASSES;
    }
    return new ArrayDataset.Builder()
        .setData(manager.create(features, new Shape(ITEMS, COLUMNS)))
        .optLabels(manager.create(labels))
        .setSampling(BATCH, true)
        .build();
  }

  private RandomAccessDataset images(boolean cropped) throws Exception {
    Path data = folder.resolve("images");
    for (int i = 0; i < ITEMS; i++) {
      File file = data.resolve("class" + i % CLASSES + "/image" + i + ".png").toFile();
      if (!file.exists()) {
        Files.createDirectories(file.toPath().getParent());
        BufferedImage image = new BufferedImage(SIDE, SIDE, BufferedImage.TYPE_INT_RGB);
        for (int p = 0; p < SIDE * SIDE; p++) {
          image.setRGB(p % SIDE, p / SIDE, (int) (value(i * SIDE * SIDE + p) * 0x7fffff));
        }
        ImageIO.write(image, "png", file);
      }
    }
    return ImageFolder.builder()
        .setRepository(Repository.newInstance("images", data))
        .addTransform(cropped ? new RandomResizedCrop(SIDE, SIDE) : new Resize(SIDE))
        .addTransform(new ToTensor())
        .setSampling(BATCH, true)
        .build();
  }
}
