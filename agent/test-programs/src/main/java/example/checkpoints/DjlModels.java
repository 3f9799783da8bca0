package example.checkpoints;

import ai.djl.Model;
import ai.djl.basicmodelzoo.basic.Mlp;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.listener.SaveModelTrainingListener;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.util.Pair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * Trains small networks and saves them in the ways that DJL offers. Arguments: {@code
 * PROGRAM[,PROGRAM...] FOLDER [WIDTH [SECONDS]]}. SECONDS is the time between saves; for {@code
 * measured}, the run time. Prints checksums of the files; some programs also print sums of the
 * parameters, and on standard error the duration of each save.
 */
public final class DjlModels {
  private static final int IN = 20;
  private static final int STEPS = 7;
  private static final int PACES = Integer.getInteger("paces", 4);
  private static final int TOTAL_STEPS = 500;
  private static final int MILLIS = 5;

  private final Path folder;
  private final int width;

  /** The argument SECONDS, in nanoseconds. */
  private final long nanos;

  private DjlModels(Path folder, int width, long nanos) {
    this.folder = folder;
    this.width = width;
    this.nanos = nanos;
  }

  public static void main(String[] args) throws Exception {
    int width = args.length > 2 ? Integer.parseInt(args[2]) : 30;
    long nanos = args.length > 3 ? (long) (Double.parseDouble(args[3]) * 1e9) : 0;
    for (String program : args[0].split(",", -1)) {
      Path folder = Path.of(args[1], program);
      Files.createDirectories(folder.getParent());
      System.out.println(program);
      new DjlModels(folder, width, nanos).run(program);
      list(folder);
    }
  }

  private void run(String program) throws Exception {
    try (Model model = Model.newInstance("mlp", "PyTorch")) {
      model.getNDManager().getEngine().setRandomSeed(7);
      model.setBlock(new Mlp(IN, 3, new int[] {width, width}));
      switch (program) {
        case "save" -> save(model, false);
        case "numbered" -> save(model, true);
        case "listener" -> listener(model, 2);
        case "ending" -> listener(model, -1);
        case "odd" -> odd(model);
        case "exit" -> {
          train(model, 1, false);
          System.exit(0);
        }
        case "endless" -> endless(model);
        case "last" -> last();
        case "paced" -> paced(model);
        case "steps" -> steps(model, TOTAL_STEPS, 0);
        case "ongoing" -> steps(model, Integer.MAX_VALUE, MILLIS);
        case "newest" -> newest();
        case "measured" -> measured(model);
        default -> throw new IllegalArgumentException(program);
      }
    }
  }

  private static DefaultTrainingConfig config() {
    return new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
        .optOptimizer(Optimizer.adam().optLearningRateTracker(Tracker.fixed(0.01f)).build());
  }

  private void save(Model model, boolean numbered) throws Exception {
    train(model, STEPS, numbered);
    load(null);
    load(Map.of("epoch", 1));
    load(Map.of("epoch", "4"));
    load(Map.of("epoch", 77));
  }

  private static ArrayDataset data(NDManager manager) {
    NDArray features = manager.arange(0f, 160f, 1f).reshape(8, IN).div(160);
    NDArray labels = manager.create(new float[] {0, 1, 2, 0, 1, 2, 0, 1});
    return new ArrayDataset.Builder()
        .setData(features)
        .optLabels(labels)
        .setSampling(4, false)
        .build();
  }

  private void train(Model model, int steps, boolean numbered) throws Exception {
    try (Trainer trainer = model.newTrainer(config());
        NDManager manager = model.getNDManager().newSubManager()) {
      trainer.initialize(new Shape(4, IN));
      ArrayDataset data = data(manager);
      for (int i = 0; i < steps; i++) {
        for (Batch batch : trainer.iterateDataset(data)) {
          EasyTrain.trainBatch(trainer, batch);
          trainer.step();
          batch.close();
        }
        if (numbered) {
          model.setProperty("Epoch", String.valueOf(i + 1));
        }
        long start = System.nanoTime();
        model.save(folder, numbered ? "other" : null);
        System.err.printf("save %.1f ms%n", (System.nanoTime() - start) / 1e6);
        System.out.println(model.getModelPath().getFileName());
      }
    }
  }

  private void load(Map<String, ?> options) {
    try (Model model = Model.newInstance("mlp", "PyTorch")) {
      model.setBlock(new Mlp(IN, 3, new int[] {width, width}));
      String name = folder.endsWith("numbered") ? "other" : "mlp";
      model.load(folder, name, options);
      System.out.println(name + " " + sum(model) + " " + model.getProperty("Epoch"));
    } catch (Exception e) {
      System.out.println(e.getClass() + " " + e.getMessage());
    }
  }

  private static double sum(Model model) {
    double sum = 0;
    for (Pair<String, Parameter> parameter : model.getBlock().getParameters()) {
      sum += parameter.getValue().getArray().sum().getFloat();
    }
    return sum;
  }

  private void listener(Model model, int every) throws Exception {
    SaveModelTrainingListener listener =
        new SaveModelTrainingListener(folder.toString(), "mlp", every);
    listener.setSaveModelCallback(trainer -> trainer.getModel().setProperty("loss", "low"));
    try (Trainer trainer = model.newTrainer(config().addTrainingListeners(listener));
        NDManager manager = model.getNDManager().newSubManager()) {
      trainer.initialize(new Shape(4, IN));
      EasyTrain.fit(trainer, 5, data(manager), null);
    }
    load(null);
  }

  private void odd(Model model) throws Exception {
    try {
      model.save(folder, "early");
    } catch (IllegalStateException e) {
      System.out.println(e.getMessage());
    }
    train(model, 2, false);
    Path link = folder.resolve("mlp-0002.params");
    Files.deleteIfExists(link);
    Files.createSymbolicLink(link, Path.of("mlp-0001.params"));
    model.setProperty("Epoch", "2");
    model.save(folder, "mlp");
    System.out.println(Files.isSymbolicLink(link));
    load(null);
    for (String bad : List.of("/proc", "/dev/null", folder + "/mlp-0001.params")) {
      try {
        model.save(Path.of(bad), "mlp");
        System.out.println(bad + " written");
      } catch (IOException e) {
        System.out.println(e.getClass() + " " + e.getMessage());
      }
    }
  }

  /** Runs until killed; prints each epoch whose save has returned. */
  private void endless(Model model) throws Exception {
    try (Trainer trainer = model.newTrainer(config())) {
      trainer.initialize(new Shape(4, IN));
      try (NDManager manager = model.getNDManager().newSubManager()) {
        for (int i = 0; ; i++) {
          try (Batch batch = trainer.iterateDataset(data(manager)).iterator().next()) {
            EasyTrain.trainBatch(trainer, batch);
            trainer.step();
          }
          model.setProperty("Epoch", String.valueOf(i));
          model.save(folder, "mlp");
          System.out.println("epoch " + i);
        }
      }
    }
  }

  /** Trains for a while after each save. */
  private void paced(Model model) throws Exception {
    try (Trainer trainer = model.newTrainer(config());
        NDManager manager = model.getNDManager().newSubManager()) {
      trainer.initialize(new Shape(4, IN));
      ArrayDataset data = data(manager);
      model.setProperty("Epoch", "1");
      for (int i = 0; i < PACES; i++) {
        long start = System.nanoTime();
        model.save(folder, "mlp");
        System.err.printf("save %.1f ms%n", (System.nanoTime() - start) / 1e6);
        for (long end = System.nanoTime() + nanos; System.nanoTime() < end; ) {
          for (Batch batch : trainer.iterateDataset(data)) {
            EasyTrain.trainBatch(trainer, batch);
            trainer.step();
            batch.close();
          }
        }
      }
    }
  }

  /** Loads the last model that a killed job saved. */
  private void last() throws Exception {
    try (Model model = Model.newInstance("mlp", "PyTorch")) {
      model.setBlock(new Mlp(IN, 3, new int[] {width, width}));
      Path other = folder.resolveSibling("endless");
      model.load(other, "mlp");
      System.out.println("last " + model.getProperty("Epoch") + " " + sum(model));
    }
  }

  /** Saves nothing; the agent takes checkpoints. */
  private static void steps(Model model, int count, int millis) throws Exception {
    try (Trainer trainer = model.newTrainer(config());
        NDManager manager = model.getNDManager().newSubManager()) {
      trainer.initialize(new Shape(4, IN));
      ArrayDataset data = data(manager);
      for (int i = 1; i <= count; ) {
        for (Batch batch : trainer.iterateDataset(data)) {
          EasyTrain.trainBatch(trainer, batch);
          trainer.step();
          batch.close();
          System.out.println("step " + i++ + " " + sum(model));
          Thread.sleep(millis);
        }
      }
      System.out.println(model.getModelPath() + " " + model.describeInput());
    }
  }

  private void measured(Model model) throws Exception {
    try (Trainer trainer = model.newTrainer(config());
        NDManager manager = model.getNDManager().newSubManager()) {
      trainer.initialize(new Shape(4, IN));
      ArrayDataset data = data(manager);
      StepTimes times = new StepTimes(nanos);
      boolean isRunning = true;
      while (isRunning) {
        for (Batch batch : trainer.iterateDataset(data)) {
          EasyTrain.trainBatch(trainer, batch);
          trainer.step();
          batch.close();
          isRunning = times.endStep() && isRunning;
        }
      }
    }
  }

  /** Loads the agent's newest checkpoint of a killed job. */
  private void newest() throws Exception {
    try (Model model = Model.newInstance("mlp", "PyTorch")) {
      model.setBlock(new Mlp(IN, 3, new int[] {width, width}));
      model.load(folder.resolveSibling("own").resolve("mlp/latest"));
      System.out.println("step ? " + sum(model));
    }
  }

  private static void list(Path folder) throws IOException {
    List<Path> files = new ArrayList<>();
    if (Files.isDirectory(folder)) {
      try (Stream<Path> all = Files.list(folder)) {
        all.filter(file -> !file.endsWith(".coordl")).forEach(files::add);
      }
    }
    files.sort(null);
    for (Path file : files) {
      CRC32 crc = new CRC32();
      crc.update(Files.readAllBytes(file));
      System.out.println(file.getFileName() + " " + Long.toHexString(crc.getValue()));
    }
  }
}
