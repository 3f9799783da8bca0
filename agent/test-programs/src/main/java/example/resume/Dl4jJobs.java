package example.resume;

import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.split.FileSplit;
import org.datavec.image.recordreader.ImageRecordReader;
import org.datavec.image.transform.FlipImageTransform;
import org.datavec.image.transform.ImageTransform;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.iterator.utilty.ListDataSetIterator;
import org.deeplearning4j.earlystopping.EarlyStoppingConfiguration;
import org.deeplearning4j.earlystopping.scorecalc.DataSetLossCalculator;
import org.deeplearning4j.earlystopping.termination.MaxEpochsTerminationCondition;
import org.deeplearning4j.earlystopping.trainer.EarlyStoppingTrainer;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.nn.weights.WeightInit;
import org.deeplearning4j.optimize.api.BaseTrainingListener;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Adam;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;
import org.nd4j.linalg.schedule.ExponentialSchedule;
import org.nd4j.linalg.schedule.ScheduleType;

/**
 * Small jobs that use dropout and follow a learning-rate schedule; most shuffle. Arguments: {@code
 * PROGRAM FOLDER [HALT]}; the JVM halts right after step HALT. Prints each step's epoch and loss,
 * and finally a checksum of the weights.
 */
public final class Dl4jJobs {
  private static final int EPOCHS = 5;
  private static final int FILES = 12;
  private static final int LINES = 9;
  private static final int COLUMNS = 6;
  private static final int SIDE = 8;
  private static final int BATCH = 10;
  private static final int CLASSES = 3;

  private final Path folder;
  private final int halt;

  private Dl4jJobs(Path folder, int halt) {
    this.folder = folder;
    this.halt = halt;
  }

  public static void main(String[] args) throws Exception {
    new Dl4jJobs(Path.of(args[1]), args.length > 2 ? Integer.parseInt(args[2]) : -1).run(args[0]);
  }

  private void run(String program) throws Exception {
    Nd4j.getRandom().setSeed(11);
    switch (program) {
      case "lines" -> {
        MultiLayerNetwork network = network(COLUMNS);
        network.fit(lines(), EPOCHS);
        end(network);
      }
      case "images", "augmented" -> {
        MultiLayerNetwork network = network(SIDE * SIDE * 3);
        boolean augmented = program.equals("augmented");
        DataSetIterator data = images(augmented ? new FlipImageTransform(new Random(5)) : null);
        for (int i = 0; i < EPOCHS; i++) {
          network.fit(data);
        }
        end(network);
      }
      case "hand" -> {
        MultiLayerNetwork network = network(COLUMNS);
        DataSetIterator data = memory();
        for (int i = 0; i < EPOCHS; i++) {
          while (data.hasNext()) {
            network.fit(data.next());
          }
          data.reset();
        }
        end(network);
      }
      case "reloading" -> {
        File own = folder.resolve("own.zip").toFile();
        MultiLayerNetwork network =
            own.exists() ? MultiLayerNetwork.load(own, true) : network(COLUMNS);
        network.setListeners(new Steps());
        DataSetIterator data = memory();
        while (network.getEpochCount() < EPOCHS) {
          network.fit(data);
          network.save(own, true);
        }
        end(network);
      }
      case "stopped" -> {
        MultiLayerNetwork network = network(COLUMNS);
        new EarlyStoppingTrainer(
                new EarlyStoppingConfiguration.Builder<MultiLayerNetwork>()
                    .epochTerminationConditions(new MaxEpochsTerminationCondition(EPOCHS))
                    .scoreCalculator(new DataSetLossCalculator(memory(), true))
                    .build(),
                network,
                lines())
            .fit();
        end(network);
      }
      case "graph" -> {
        ComputationGraph graph = graph();
        graph.fit(lines(), EPOCHS);
        end(graph);
      }
      default -> throw new IllegalArgumentException(program);
    }
  }

  private void end(Model model) {
    CRC32 sum = new CRC32();
    sum.update(model.params().toString().getBytes(StandardCharsets.UTF_8));
    for (double weight : model.params().toDoubleVector()) {
      sum.update(Double.toHexString(weight).getBytes(StandardCharsets.UTF_8));
    }
    System.out.println("weights " + sum.getValue());
  }

  private final class Steps extends BaseTrainingListener {
    @Override
    public void iterationDone(Model model, int iteration, int epoch) {
      int step = iteration + 1;
      System.out.println(
          "step " + step + " of epoch " + epoch + " " + Double.toHexString(model.score()));
      if (step == halt) {
        System.out.flush();
        Runtime.getRuntime().halt(9);
      }
    }
  }

  private static NeuralNetConfiguration.Builder configuration() {
    return new NeuralNetConfiguration.Builder()
        .seed(3)
        .weightInit(WeightInit.XAVIER)
        .updater(new Adam(new ExponentialSchedule(ScheduleType.EPOCH, 0.01, 0.7)));
  }

  private static DenseLayer hidden(int inputs) {
    return new DenseLayer.Builder()
        .nIn(inputs)
        .nOut(12)
        .dropOut(0.8)
        .activation(Activation.TANH)
        .build();
  }

  private static OutputLayer output() {
    return new OutputLayer.Builder(LossFunction.MCXENT)
        .nIn(12)
        .nOut(CLASSES)
        .activation(Activation.SOFTMAX)
        .build();
  }

  private MultiLayerNetwork network(int inputs) {
    var list = configuration().list().layer(hidden(inputs)).layer(output());
    if (inputs != COLUMNS) {
      list.setInputType(InputType.convolutional(SIDE, SIDE, 3));
    }
    MultiLayerNetwork network = new MultiLayerNetwork(list.build());
    network.init();
    network.setListeners(new Steps());
    return network;
  }

  private ComputationGraph graph() {
    ComputationGraph graph =
        new ComputationGraph(
            configuration()
                .graphBuilder()
                .addInputs("in")
                .addLayer("hidden", hidden(COLUMNS), "in")
                .addLayer("out", output(), "hidden")
                .setOutputs("out")
                .build());
    graph.init();
    graph.setListeners(new Steps());
    return graph;
  }

  private static float value(int i) {
    return (float) Math.sin(i * 0.37);
  }

  private DataSetIterator lines() throws IOException, InterruptedException {
    Path data = Files.createDirectories(folder.resolve("lines"));
    for (int f = 0; f < FILES; f++) {
      Path file = data.resolve("part" + f + ".csv");
      if (!Files.exists(file)) {
        StringBuilder text = new StringBuilder();
        for (int l = 0; l < LINES; l++) {
          int line = f * LINES + l;
          for (int c = 0; c < COLUMNS; c++) {
            text.append(value(line * COLUMNS + c)).append(',');
          }
          text.append(line % CLASSES).append('\n');
        }
        Files.writeString(file, text);
      }
    }
    RecordReader reader = new CSVRecordReader();
    reader.initialize(new FileSplit(data.toFile(), new String[] {"csv"}, new Random(17)));
    return new RecordReaderDataSetIterator(reader, BATCH, COLUMNS, CLASSES);
  }

  private DataSetIterator images(ImageTransform transform) throws IOException {
    Path data = folder.resolve("images");
    for (int i = 0; i < FILES * LINES; i++) {
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
    ImageRecordReader reader = new ImageRecordReader(SIDE, SIDE, 3, new ParentPathLabelGenerator());
    FileSplit split = new FileSplit(data.toFile(), new String[] {"png"}, new Random(17));
    reader.initialize(split, transform);
    DataSetIterator iterator = new RecordReaderDataSetIterator(reader, BATCH, 1, CLASSES);
    iterator.setPreProcessor(new ImagePreProcessingScaler());
    return iterator;
  }

  private static DataSetIterator memory() {
    List<DataSet> all = new ArrayList<>();
    for (int i = 0; i < FILES * LINES; i++) {
      float[] features = new float[COLUMNS];
      for (int c = 0; c < COLUMNS; c++) {
        features[c] = value(i * COLUMNS + c);
      }
      float[] label = new float[CLASSES];
      label[i % CLASSES] = 1;
      all.add(
          new DataSet(Nd4j.create(new float[][] {features}), Nd4j.create(new float[][] {label})));
    }
    return new ListDataSetIterator<>(all, BATCH);
  }
}
