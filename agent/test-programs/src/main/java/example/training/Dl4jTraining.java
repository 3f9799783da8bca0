package example.training;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.SequenceRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVSequenceRecordReader;
import org.datavec.api.records.reader.impl.transform.TransformProcessRecordReader;
import org.datavec.api.split.FileSplit;
import org.datavec.api.split.NumberedFileInputSplit;
import org.datavec.api.transform.TransformProcess;
import org.datavec.api.transform.schema.Schema;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.SequenceRecordReaderDataSetIterator;
import org.deeplearning4j.datasets.iterator.utilty.ListDataSetIterator;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.ConvolutionLayer;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.Layer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.conf.layers.RnnOutputLayer;
import org.deeplearning4j.nn.conf.layers.SubsamplingLayer;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.nn.weights.WeightInit;
import org.deeplearning4j.optimize.api.BaseTrainingListener;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Adam;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/**
 * Trains with DL4J on data of {@link TrainingData} or on pictures. Arguments: {@code
 * images|images-at-once|csv|csv-at-once|sequences|words|waves|loader|compute DATA EPOCHS}; for
 * {@code compute}, whose data are in memory, DATA is the number of samples. {@code loader} only
 * loads batches.
 */
public final class Dl4jTraining {
  private static final int BATCH = 32;
  private static final int SIZE = 48;
  private static final int CHANNELS = 3;
  private static final int CLASSES = 2;

  private final String data;
  private final int epochs;

  private Dl4jTraining(String data, int epochs) {
    this.data = data;
    this.epochs = epochs;
  }

  /** Runs one program. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Nd4j.getRandom().setSeed(1);
    new Dl4jTraining(args[1], Integer.parseInt(args[2])).run(args[0]);
  }

  private void run(String program) throws IOException, InterruptedException {
    switch (program) {
      case "images" -> fit(pictures(), convolutional(8, 4));
      case "images-at-once" -> fitAtOnce(pictures(), convolutional(8, 4));
      case "csv-at-once" -> fitAtOnce(table(), mlp(TrainingData.COLUMNS - 1));
      case "csv" -> fit(table(), mlp(TrainingData.COLUMNS - 1));
      case "sequences" -> fit(sequences(), perFrame());
      case "words" -> fitByHand(words(), mlp(TrainingData.WORDS));
      case "waves" -> fit(new Sound(Waves.files(Path.of(data))), mlp(Waves.BANDS));
      case "loader" -> load(pictures());
      case "compute" -> fit(inMemory(), convolutional(16, 1));
      default -> throw new IllegalArgumentException(program + " is not a program of this class.");
    }
  }

  // ---- training

  private void fit(DataSetIterator iterator, MultiLayerNetwork network) {
    Counted counted = new Counted();
    network.setListeners(counted);
    EpochLines lines = new EpochLines();
    for (int epoch = 0; epoch < epochs; epoch++) {
      network.fit(iterator);
      counted.ended(lines);
    }
  }

  /** The library runs all epochs. */
  private void fitAtOnce(DataSetIterator iterator, MultiLayerNetwork network) {
    EpochLines lines = new EpochLines();
    network.setListeners(
        new Counted() {
          @Override
          public void onEpochEnd(Model model) {
            ended(lines);
          }
        });
    network.fit(iterator, epochs);
  }

  /** A hand-written loop. */
  private void fitByHand(DataSetIterator iterator, MultiLayerNetwork network) {
    Counted counted = new Counted();
    network.setListeners(counted);
    EpochLines lines = new EpochLines();
    for (int epoch = 0; epoch < epochs; epoch++) {
      while (iterator.hasNext()) {
        network.fit(iterator.next());
      }
      iterator.reset();
      counted.ended(lines);
    }
  }

  /** Loads every batch without training; sums the loaded values. */
  private void load(DataSetIterator iterator) {
    EpochLines lines = new EpochLines();
    for (int epoch = 0; epoch < epochs; epoch++) {
      long samples = 0;
      double sum = 0;
      while (iterator.hasNext()) {
        DataSet batch = iterator.next();
        samples += batch.numExamples();
        sum += batch.getFeatures().sumNumber().doubleValue();
      }
      iterator.reset();
      lines.endEpoch(samples, sum);
    }
  }

  /** Adds up the samples of an epoch and the losses of its batches. */
  private static class Counted extends BaseTrainingListener {
    private long samples;
    private double loss;

    @Override
    public void iterationDone(Model model, int iteration, int epoch) {
      samples += ((MultiLayerNetwork) model).batchSize();
      loss += model.score();
    }

    void ended(EpochLines lines) {
      lines.endEpoch(samples, loss);
      samples = 0;
      loss = 0;
    }
  }

  // ---- models

  private static NeuralNetConfiguration.ListBuilder network(Layer... layers) {
    NeuralNetConfiguration.ListBuilder list =
        new NeuralNetConfiguration.Builder()
            .seed(1)
            .weightInit(WeightInit.XAVIER)
            .updater(new Adam(1e-3))
            .list();
    for (Layer layer : layers) {
      list.layer(layer);
    }
    return list;
  }

  private static MultiLayerNetwork initialized(NeuralNetConfiguration.ListBuilder network) {
    MultiLayerNetwork made = new MultiLayerNetwork(network.build());
    made.init();
    return made;
  }

  private static OutputLayer output() {
    return new OutputLayer.Builder(LossFunction.NEGATIVELOGLIKELIHOOD)
        .nOut(CLASSES)
        .activation(Activation.SOFTMAX)
        .build();
  }

  private static MultiLayerNetwork mlp(int inputs) {
    return initialized(
        network(
            new DenseLayer.Builder().nIn(inputs).nOut(256).activation(Activation.RELU).build(),
            output()));
  }

  private static MultiLayerNetwork convolutional(int filters, int stride) {
    return initialized(
        network(
                new ConvolutionLayer.Builder(5, 5)
                    .nOut(filters)
                    .stride(stride, stride)
                    .activation(Activation.RELU)
                    .build(),
                new SubsamplingLayer.Builder(SubsamplingLayer.PoolingType.MAX)
                    .kernelSize(2, 2)
                    .stride(2, 2)
                    .build(),
                new ConvolutionLayer.Builder(3, 3)
                    .nOut(2 * filters)
                    .activation(Activation.RELU)
                    .build(),
                new DenseLayer.Builder().nOut(32).activation(Activation.RELU).build(),
                output())
            .setInputType(InputType.convolutional(SIZE, SIZE, CHANNELS)));
  }

  /** Classifies each frame. */
  private static MultiLayerNetwork perFrame() {
    return initialized(
        network(
                new DenseLayer.Builder().nOut(32).activation(Activation.RELU).build(),
                new RnnOutputLayer.Builder(LossFunction.MCXENT)
                    .nOut(CLASSES)
                    .activation(Activation.SOFTMAX)
                    .build())
            .setInputType(InputType.recurrent(TrainingData.BANDS)));
  }

  // ---- data

  private DataSetIterator pictures() throws IOException {
    ImageRecordReader reader =
        new ImageRecordReader(SIZE, SIZE, CHANNELS, new ParentPathLabelGenerator());
    reader.initialize(
        new FileSplit(new File(data), NativeImageLoader.ALLOWED_FORMATS, new Random(1)));
    DataSetIterator pictures =
        new RecordReaderDataSetIterator(reader, BATCH, 1, reader.numLabels());
    pictures.setPreProcessor(new ImagePreProcessingScaler(0, 1));
    return pictures;
  }

  private RecordReader lines(int skipped, String file) throws IOException, InterruptedException {
    RecordReader reader = new CSVRecordReader(skipped);
    reader.initialize(new FileSplit(new File(data, file)));
    return reader;
  }

  private DataSetIterator table() throws IOException, InterruptedException {
    return new RecordReaderDataSetIterator(
        lines(1, "table.csv"), BATCH, TrainingData.COLUMNS - 1, CLASSES);
  }

  /** Words, which a transform process converts to numbers. */
  private DataSetIterator words() throws IOException, InterruptedException {
    List<String> vocabulary = new ArrayList<>();
    for (int word = 0; word < TrainingData.VOCABULARY; word++) {
      vocabulary.add("word" + word);
    }
    Schema.Builder schema = new Schema.Builder();
    List<String> names = new ArrayList<>();
    for (int word = 0; word < TrainingData.WORDS; word++) {
      names.add("w" + word);
      schema.addColumnCategorical("w" + word, vocabulary);
    }
    schema.addColumnInteger("class");
    TransformProcess process =
        new TransformProcess.Builder(schema.build())
            .categoricalToInteger(names.toArray(String[]::new))
            .build();
    return new RecordReaderDataSetIterator(
        new TransformProcessRecordReader(lines(0, "words.csv"), process),
        BATCH,
        TrainingData.WORDS,
        CLASSES);
  }

  private DataSetIterator sequences() throws IOException, InterruptedException {
    return new SequenceRecordReaderDataSetIterator(
        numbered("frames"),
        numbered("labels"),
        BATCH,
        CLASSES,
        false,
        SequenceRecordReaderDataSetIterator.AlignmentMode.ALIGN_END);
  }

  private SequenceRecordReader numbered(String name) throws IOException, InterruptedException {
    int last = -1;
    while (new File(data, name + "_" + (last + 1) + ".csv").exists()) {
      last++;
    }
    SequenceRecordReader reader = new CSVSequenceRecordReader();
    reader.initialize(new NumberedFileInputSplit(data + "/" + name + "_%d.csv", 0, last));
    return reader;
  }

  private DataSetIterator inMemory() {
    int samples = Integer.parseInt(data);
    INDArray features = Nd4j.randn(DataType.FLOAT, samples, CHANNELS, SIZE, SIZE);
    INDArray labels = Nd4j.zeros(DataType.FLOAT, samples, CLASSES);
    for (int i = 0; i < samples; i++) {
      labels.putScalar(i, i % CLASSES, 1);
    }
    return new ListDataSetIterator<>(new DataSet(features, labels).asList(), BATCH);
  }

  /** A custom iterator over sounds, converted to the energy at each frequency. */
  private static final class Sound implements DataSetIterator {
    private static final long serialVersionUID = 1;
    private final transient List<Path> files;
    private int next;

    Sound(List<Path> files) {
      this.files = files;
    }

    @Override
    public DataSet next(int max) {
      int size = Math.min(max, files.size() - next);
      float[][] features = new float[size][];
      float[][] labels = new float[size][CLASSES];
      for (int i = 0; i < size; i++, next++) {
        try {
          features[i] = Waves.bands(Files.readAllBytes(files.get(next)));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
        labels[i][next % CLASSES] = 1;
      }
      return new DataSet(Nd4j.createFromArray(features), Nd4j.createFromArray(labels));
    }

    @Override
    public DataSet next() {
      return next(BATCH);
    }

    @Override
    public boolean hasNext() {
      return next < files.size();
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
      return true;
    }

    @Override
    public int batch() {
      return BATCH;
    }

    @Override
    public int inputColumns() {
      return Waves.BANDS;
    }

    @Override
    public int totalOutcomes() {
      return CLASSES;
    }

    @Override
    public List<String> getLabels() {
      return List.of("0", "1");
    }

    @Override
    public void setPreProcessor(DataSetPreProcessor preProcessor) {
      throw new UnsupportedOperationException("No preprocessor is needed.");
    }

    @Override
    public DataSetPreProcessor getPreProcessor() {
      return null;
    }
  }
}
