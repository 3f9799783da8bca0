package example.checkpoints;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.deeplearning4j.earlystopping.saver.LocalFileModelSaver;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.nn.weights.WeightInit;
import org.deeplearning4j.optimize.listeners.Checkpoint;
import org.deeplearning4j.optimize.listeners.CheckpointListener;
import org.deeplearning4j.util.ModelSerializer;
import org.nd4j.autodiff.samediff.SDVariable;
import org.nd4j.autodiff.samediff.SameDiff;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.preprocessor.NormalizerStandardize;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Adam;
import org.nd4j.linalg.learning.config.Nesterovs;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/**
 * Trains small networks and saves them in the ways that DL4J offers. Arguments: {@code
 * PROGRAM[,PROGRAM...] FOLDER [WIDTH [SECONDS]]}. SECONDS is the time between saves; for {@code
 * measured}, the run time. Prints checksums of the files, entry by entry; some programs also print
 * sums of the parameters, and on standard error the duration of each save.
 */
public final class Dl4jModels {
  private static final int IN = 20;
  private static final int STEPS = 7;
  private static final int PACES = Integer.getInteger("paces", 4);
  private static final int TOTAL_STEPS = 500;
  private static final int MILLIS = 5;

  private final Path folder;
  private final int width;

  /** The argument SECONDS, in nanoseconds. */
  private final long nanos;

  private Dl4jModels(Path folder, int width, long nanos) {
    this.folder = folder;
    this.width = width;
    this.nanos = nanos;
  }

  public static void main(String[] args) throws Exception {
    int width = args.length > 2 ? Integer.parseInt(args[2]) : 30;
    long nanos = args.length > 3 ? (long) (Double.parseDouble(args[3]) * 1e9) : 0;
    for (String program : args[0].split(",", -1)) {
      Path folder = Path.of(args[1], program);
      Files.createDirectories(folder);
      System.out.println(program);
      new Dl4jModels(folder, width, nanos).run(program);
      if (!program.startsWith("endless")) {
        list(folder);
      }
    }
  }

  private void run(String program) throws Exception {
    switch (program) {
      case "network" -> network();
      case "graph" -> graph();
      case "listener" -> listener(new CheckpointListener.Builder(folder.toFile()).keepLast(2));
      case "every" ->
          listener(new CheckpointListener.Builder(folder.toFile()).keepLastAndEvery(1, 3));
      case "all" -> listener(new CheckpointListener.Builder(folder.toFile()).keepAll());
      case "saver" -> saver();
      case "samediff" -> sameDiff();
      case "changed" -> changed();
      case "odd" -> odd();
      case "exit" -> exit();
      case "endless" -> endless();
      case "last" -> last();
      case "paced" -> paced();
      case "steps" -> steps(TOTAL_STEPS, 0);
      case "ongoing" -> steps(Integer.MAX_VALUE, MILLIS);
      case "newest" -> newest();
      case "measured" -> measured();
      default -> throw new IllegalArgumentException(program);
    }
  }

  private MultiLayerNetwork newNetwork() {
    MultiLayerNetwork net =
        new MultiLayerNetwork(
            new NeuralNetConfiguration.Builder()
                .seed(7)
                .updater(new Adam(0.01))
                .weightInit(WeightInit.XAVIER)
                .list()
                .layer(
                    new DenseLayer.Builder()
                        .nIn(IN)
                        .nOut(width)
                        .activation(Activation.TANH)
                        .build())
                .layer(
                    new DenseLayer.Builder()
                        .nIn(width)
                        .nOut(width)
                        .activation(Activation.TANH)
                        .build())
                .layer(
                    new OutputLayer.Builder(LossFunction.MCXENT)
                        .nIn(width)
                        .nOut(3)
                        .activation(Activation.SOFTMAX)
                        .build())
                .build());
    net.init();
    return net;
  }

  private static DataSet batch(int step) {
    INDArray features = Nd4j.linspace(DataType.FLOAT, step, 0.01, 8L * IN).reshape(8, IN);
    INDArray labels = Nd4j.zeros(DataType.FLOAT, 8, 3);
    for (int i = 0; i < 8; i++) {
      labels.putScalar(i, (i + step) % 3, 1);
    }
    return new DataSet(features, labels);
  }

  private interface Saving {
    void run() throws IOException;
  }

  private static void timed(Saving saving) throws IOException {
    long start = System.nanoTime();
    saving.run();
    System.err.printf("save %.1f ms%n", (System.nanoTime() - start) / 1e6);
  }

  private void network() throws IOException {
    MultiLayerNetwork net = newNetwork();
    File file = folder.resolve("model.zip").toFile();
    File string = folder.resolve("string.zip").toFile();
    File bare = folder.resolve("bare.zip").toFile();
    for (int i = 0; i < STEPS; i++) {
      net.fit(batch(i));
      timed(() -> ModelSerializer.writeModel(net, file, true));
      timed(() -> ModelSerializer.writeModel(net, string.getPath(), true));
      timed(() -> net.save(bare, false));
    }
    // This step must not be in the last save.
    net.fit(batch(STEPS));
    load(file);
    load(string);
    load(bare);
  }

  private static void load(File file) throws IOException {
    MultiLayerNetwork loaded = MultiLayerNetwork.load(file, true);
    System.out.println(
        file.getName()
            + " "
            + loaded.getIterationCount()
            + " "
            + loaded.params().sumNumber()
            + " "
            + loaded.getUpdater().getStateViewArray().sumNumber());
    loaded.fit(batch(STEPS));
    System.out.println("continues with " + loaded.score());
  }

  private void graph() throws IOException {
    ComputationGraph net =
        new ComputationGraph(
            new NeuralNetConfiguration.Builder()
                .seed(7)
                .updater(new Nesterovs(0.01))
                .graphBuilder()
                .addInputs("in")
                .addLayer("dense", new DenseLayer.Builder().nIn(IN).nOut(width).build(), "in")
                .addLayer(
                    "out",
                    new OutputLayer.Builder(LossFunction.MSE).nIn(width).nOut(3).build(),
                    "dense")
                .setOutputs("out")
                .build());
    net.init();
    File file = folder.resolve("graph.zip").toFile();
    for (int i = 0; i < STEPS; i++) {
      net.fit(batch(i));
      timed(() -> net.save(file));
    }
    ComputationGraph loaded = ComputationGraph.load(file, true);
    System.out.println(loaded.params().sumNumber() + " " + loaded.params().equals(net.params()));
  }

  private void listener(CheckpointListener.Builder builder) {
    MultiLayerNetwork net = newNetwork();
    CheckpointListener listener = builder.saveEveryNIterations(2).build();
    net.setListeners(listener);
    for (int i = 0; i < 3 * STEPS; i++) {
      net.fit(batch(i));
    }
    for (Checkpoint checkpoint : listener.availableCheckpoints()) {
      System.out.println(checkpoint.getCheckpointNum() + " at " + checkpoint.getIteration());
    }
    System.out.println("last " + listener.lastCheckpoint().getIteration());
    MultiLayerNetwork last = CheckpointListener.loadLastCheckpointMLN(folder.toFile());
    System.out.println(last.getIterationCount() + " " + last.params().sumNumber());
    MultiLayerNetwork first =
        listener.loadCheckpointMLN(listener.availableCheckpoints().get(0).getCheckpointNum());
    System.out.println(first.getIterationCount() + " " + first.params().sumNumber());
  }

  private void saver() throws IOException {
    MultiLayerNetwork net = newNetwork();
    LocalFileModelSaver saver = new LocalFileModelSaver(folder.toFile());
    for (int i = 0; i < STEPS; i++) {
      net.fit(batch(i));
      saver.saveBestModel(net, net.score());
      System.out.println(saver.getBestModel().params().equals(net.params()));
      saver.saveLatestModel(net, net.score());
    }
    System.out.println(saver.getLatestModel().getIterationCount());
  }

  private void sameDiff() {
    SameDiff graph = SameDiff.create();
    SDVariable in = graph.placeHolder("in", DataType.FLOAT, -1, IN);
    SDVariable weights =
        graph.var("weights", Nd4j.linspace(DataType.FLOAT, 1, 0.5, 3L * IN).reshape(IN, 3));
    in.mmul("out", weights);
    File file = folder.resolve("graph.fb").toFile();
    for (int i = 0; i < STEPS; i++) {
      weights.getArr().addi(1);
      graph.save(file, false);
    }
    SameDiff loaded = SameDiff.load(file, false);
    System.out.println(loaded.getVariable("weights").getArr().sumNumber());
  }

  private void changed() throws IOException {
    MultiLayerNetwork net = newNetwork();
    File file = folder.resolve("model.zip").toFile();
    net.save(file);
    NormalizerStandardize normalizer = new NormalizerStandardize();
    normalizer.fit(batch(0));
    ModelSerializer.addNormalizerToModel(file, normalizer);
    System.out.println(ModelSerializer.restoreNormalizerFromFile(file) != null);
    ModelSerializer.addObjectToFile(file, "more", "text");
    System.out.println(ModelSerializer.<String>getObjectFromFile(file, "more"));
    load(file);
  }

  /** Saves to places where a file cannot simply be replaced, or cannot be written at all. */
  private void odd() throws IOException {
    MultiLayerNetwork net = newNetwork();
    Path real = folder.resolve("real.zip");
    Path link = folder.resolve("link.zip");
    net.save(real.toFile());
    Files.deleteIfExists(link);
    Files.createSymbolicLink(link, Path.of("real.zip"));
    net.fit(batch(1));
    net.save(link.toFile());
    System.out.println(Files.isSymbolicLink(link));
    load(real.toFile());
    Path name = folder.resolve("name.zip");
    Files.deleteIfExists(name);
    Files.createLink(name, real);
    net.fit(batch(2));
    net.save(name.toFile());
    load(real.toFile());
    for (Path bad :
        List.of(
            folder.resolve("absent/model.zip"),
            folder,
            Path.of("/proc/model.zip"),
            Path.of("/dev/null"))) {
      try {
        net.save(bad.toFile());
        System.out.println(bad + " written");
      } catch (IOException | RuntimeException e) {
        System.out.println(e.getClass() + " " + e.getMessage());
      }
    }
    try {
      MultiLayerNetwork.load(folder.resolve("none.zip").toFile(), true);
    } catch (IOException | RuntimeException e) {
      System.out.println(e.getClass() + " " + e.getMessage());
    }
  }

  /** Ends the JVM right after a save. */
  private void exit() throws IOException {
    MultiLayerNetwork net = newNetwork();
    net.fit(batch(0));
    net.save(folder.resolve("model.zip").toFile());
    System.out.println(net.params().sumNumber());
    System.exit(0);
  }

  /** Runs until killed; prints each iteration whose save has returned. */
  private void endless() {
    MultiLayerNetwork net = newNetwork();
    CheckpointListener listener =
        new CheckpointListener.Builder(folder.toFile())
            .keepLast(2)
            .deleteExisting(true)
            .saveEveryNIterations(1)
            .build();
    net.setListeners(listener);
    for (int i = 0; ; i++) {
      net.fit(batch(i % 100));
      if (i > 0) { // The listener does not save the first iteration.
        System.out.println("iteration " + (net.getIterationCount() - 1));
      }
    }
  }

  /** Trains for a while after each save. */
  private void paced() throws IOException {
    MultiLayerNetwork net = newNetwork();
    net.fit(batch(0));
    for (int i = 0; i < PACES; i++) {
      timed(() -> net.save(folder.resolve("model.zip").toFile()));
      for (long end = System.nanoTime() + nanos; System.nanoTime() < end; ) {
        net.fit(batch(1));
      }
    }
  }

  /** Loads the last model that a killed job saved. */
  private void last() throws IOException {
    Path other = folder.resolveSibling("endless");
    for (Checkpoint checkpoint : CheckpointListener.availableCheckpoints(other.toFile())) {
      System.out.println(checkpoint.getIteration());
    }
    MultiLayerNetwork net = CheckpointListener.loadLastCheckpointMLN(other.toFile());
    System.out.println("last " + net.getIterationCount() + " " + net.params().sumNumber());
  }

  /** Saves nothing; the agent takes checkpoints. */
  private void steps(int count, int millis) throws Exception {
    MultiLayerNetwork net = newNetwork();
    for (int i = 1; i <= count; i++) {
      net.fit(batch(i % 100));
      System.out.println("step " + i + " " + net.params().sumNumber());
      Thread.sleep(millis);
    }
  }

  private void measured() {
    MultiLayerNetwork net = newNetwork();
    DataSet batch = batch(1);
    StepTimes times = new StepTimes(nanos);
    do {
      net.fit(batch);
    } while (times.endStep());
  }

  /** Loads the agent's newest checkpoint of a killed job. */
  private void newest() throws IOException {
    Path file = folder.resolveSibling("own").resolve("model/latest/model.zip");
    MultiLayerNetwork net = MultiLayerNetwork.load(file.toFile(), true);
    System.out.println("step " + net.getIterationCount() + " " + net.params().sumNumber());
  }

  private static void list(Path folder) throws IOException {
    List<Path> files = new ArrayList<>();
    try (Stream<Path> all = Files.list(folder)) {
      all.filter(file -> !file.endsWith(".coordl")).forEach(files::add);
    }
    files.sort(null);
    for (Path file : files) {
      StringBuilder line = new StringBuilder(file.getFileName().toString());
      if (file.toString().matches(".*\\.(zip|bin)")) {
        try (ZipFile zip = new ZipFile(file.toFile())) {
          for (ZipEntry entry : zip.stream().toList()) {
            line.append(' ').append(entry.getName()).append(' ');
            line.append(crc(zip.getInputStream(entry).readAllBytes()));
          }
        }
      } else if (!file.toString().endsWith(".txt")) {
        line.append(' ').append(crc(Files.readAllBytes(file)));
      } else {
        // Blank the second field, a time, which differs between runs.
        for (String text : Files.readAllLines(file)) {
          String[] fields = text.split(",", -1);
          fields[Math.min(1, fields.length - 1)] = "";
          line.append('\n').append(Arrays.toString(fields));
        }
      }
      System.out.println(line);
    }
  }

  private static String crc(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return Long.toHexString(crc.getValue());
  }
}
