package example.spark;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.datavec.image.loader.NativeImageLoader;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.ConvolutionLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.spark.api.RDDTrainingApproach;
import org.deeplearning4j.spark.api.Repartition;
import org.deeplearning4j.spark.impl.multilayer.SparkDl4jMultiLayer;
import org.deeplearning4j.spark.impl.paramavg.ParameterAveragingTrainingMaster;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Sgd;

/**
 * Image classification with DL4J on two workers of a Spark cluster, which average their weights.
 * Every worker must be able to read the pictures; each epoch reads them in a different order.
 *
 * <p>Arguments: the folder with one folder of pictures per class, epochs, batch size.
 */
public final class TrainImages {
  private static final int WORKERS = 2;
  private static final int SIZE = 48;
  private static final int CHANNELS = 3;
  private static final int SEED = 1;

  private TrainImages() {}

  /** Trains according to the arguments. */
  public static void main(String[] args) throws IOException {
    int epochs = Integer.parseInt(args[1]);
    int batch = Integer.parseInt(args[2]);
    List<File> pictures = pictures(Path.of(args[0]));
    List<String> classes =
        pictures.stream().map(picture -> picture.getParentFile().getName()).distinct().toList();
    List<String> labels = new ArrayList<>(classes);
    Random order = new Random(SEED);

    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf())) {
      ParameterAveragingTrainingMaster master =
          new ParameterAveragingTrainingMaster.Builder(WORKERS, batch)
              .batchSizePerWorker(batch)
              .averagingFrequency(2)
              .workerPrefetchNumBatches(2)
              .rddTrainingApproach(RDDTrainingApproach.Direct)
              .repartionData(Repartition.Never)
              .rngSeed(SEED)
              .build();
      SparkDl4jMultiLayer network =
          new SparkDl4jMultiLayer(spark, configuration(labels.size()), master);
      for (int epoch = 1; epoch <= epochs; epoch++) {
        Collections.shuffle(pictures, order);
        JavaRDD<DataSet> data =
            spark.parallelize(batches(pictures, batch), WORKERS).map(files -> load(files, labels));
        network.fit(data);
        data.unpersist();
        int weights = Arrays.hashCode(network.getNetwork().params().toFloatVector());
        System.out.println("epoch " + epoch + ": weights " + Integer.toHexString(weights));
      }
    }
  }

  private static List<File> pictures(Path data) throws IOException {
    try (Stream<Path> tree = Files.walk(data)) {
      return new ArrayList<>(tree.filter(Files::isRegularFile).sorted().map(Path::toFile).toList());
    }
  }

  private static List<List<File>> batches(List<File> pictures, int batch) {
    List<List<File>> batches = new ArrayList<>();
    for (int i = 0; i < pictures.size(); i += batch) {
      batches.add(new ArrayList<>(pictures.subList(i, Math.min(i + batch, pictures.size()))));
    }
    return batches;
  }

  /** Loads a batch of these files, on the worker that trains with it. */
  private static DataSet load(List<File> files, List<String> labels) throws IOException {
    NativeImageLoader loader = new NativeImageLoader(SIZE, SIZE, CHANNELS);
    INDArray[] features = new INDArray[files.size()];
    INDArray classes = Nd4j.create(files.size(), labels.size());
    for (int i = 0; i < files.size(); i++) {
      File file = files.get(i);
      features[i] = loader.asMatrix(file).divi(255);
      classes.putScalar(i, labels.indexOf(file.getParentFile().getName()), 1);
    }
    return new DataSet(Nd4j.concat(0, features), classes);
  }

  private static MultiLayerConfiguration configuration(int classes) {
    return new NeuralNetConfiguration.Builder()
        .seed(SEED)
        .updater(new Sgd(0.01))
        .list()
        .layer(
            new ConvolutionLayer.Builder(5, 5)
                .nOut(8)
                .stride(4, 4)
                .activation(Activation.RELU)
                .build())
        .layer(new OutputLayer.Builder().nOut(classes).activation(Activation.SOFTMAX).build())
        .setInputType(InputType.convolutional(SIZE, SIZE, CHANNELS))
        .build();
  }
}
