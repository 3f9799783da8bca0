package example.training;

import ai.djl.Model;
import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.basicdataset.tabular.CsvDataset;
import ai.djl.basicmodelzoo.cv.classification.ResNetV1;
import ai.djl.engine.Engine;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.RandomFlipLeftRight;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.modality.nlp.DefaultVocabulary;
import ai.djl.modality.nlp.Vocabulary;
import ai.djl.modality.nlp.embedding.TrainableWordEmbedding;
import ai.djl.modality.nlp.preprocess.LowerCaseConvertor;
import ai.djl.modality.nlp.preprocess.PunctuationSeparator;
import ai.djl.modality.nlp.preprocess.SimpleTokenizer;
import ai.djl.modality.nlp.preprocess.TextProcessor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.training.listener.TrainingListener;
import ai.djl.training.listener.TrainingListenerAdapter;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.translate.Pipeline;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.apache.commons.csv.CSVFormat;

/**
 * Trains with DJL on data of {@link TrainingData} or on pictures. Arguments: {@code
 * images|still|csv|csv-by-hand|text|waves|lambda|records|series|loader|compute DATA EPOCHS}; for
 * {@code series} and {@code compute}, whose data are in memory, DATA is the number of samples.
 * {@code loader} only loads batches.
 */
public final class DjlTraining {
  private static final int BATCH = 32;
  private static final int SIZE = 28;

  private final String data;
  private final int epochs;

  private DjlTraining(String data, int epochs) {
    this.data = data;
    this.epochs = epochs;
  }

  /** Runs one program. */
  public static void main(String[] args) throws IOException, TranslateException {
    Engine.getInstance().setRandomSeed(1);
    new DjlTraining(args[1], Integer.parseInt(args[2])).run(args[0]);
  }

  private void run(String program) throws IOException, TranslateException {
    switch (program) {
      case "csv-by-hand" ->
          fitByHand(table(), mlp(1, 64), new Shape(1, TrainingData.COLUMNS - 1), Loss.l2Loss());
      case "images" ->
          fit(pictures(), resNet(8), new Shape(1, 3, SIZE, SIZE), classificationLoss());
      case "csv" -> fit(table(), mlp(1, 64), new Shape(1, TrainingData.COLUMNS - 1), Loss.l2Loss());
      case "text" -> text();
      case "waves" ->
          fitByHand(sound(), mlp(2, 1024, 1024), new Shape(1, Waves.BANDS), classificationLoss());
      case "still" -> fit(still(), resNet(8), new Shape(1, 3, SIZE, SIZE), classificationLoss());
      case "lambda" -> fit(scaled(), mlp(2, 256), new Shape(1, Waves.BANDS), classificationLoss());
      case "records" -> {
        Everyday rows = new Everyday.Rows(sampling(), Path.of(data, "words.csv"));
        fit(rows, mlp(2, 256), new Shape(1, Everyday.SIZE), classificationLoss());
      }
      case "series" -> {
        Everyday windows = new Everyday.Series(sampling(), Integer.parseInt(data));
        fitByHand(windows, mlp(2, 256), new Shape(1, Everyday.SIZE), classificationLoss());
      }
      case "loader" -> load(sound());
      case "compute" -> {
        try (NDManager manager = NDManager.newBaseManager()) {
          fit(inMemory(manager), resNet(20), new Shape(1, 3, SIZE, SIZE), classificationLoss());
        }
      }
      default -> throw new IllegalArgumentException(program + " is not a program of this class.");
    }
  }

  private void text() throws IOException, TranslateException {
    List<String> lines = Files.readAllLines(Path.of(data, "sentences.txt"));
    DefaultVocabulary.Builder words = DefaultVocabulary.builder().optUnknownToken("<unk>");
    for (String line : lines) {
      words.add(Sentences.words(line));
    }
    Vocabulary vocabulary = words.build();
    Sentences sentences = new Sentences(new Builder().setSampling(BATCH, true), lines, vocabulary);
    fit(sentences, bagOfWords(vocabulary), new Shape(1, Sentences.LENGTH), classificationLoss());
  }

  private static Loss classificationLoss() {
    return Loss.softmaxCrossEntropyLoss();
  }

  // ---- training

  private static DefaultTrainingConfig config(Loss loss) {
    return new DefaultTrainingConfig(loss)
        .optOptimizer(Optimizer.sgd().setLearningRateTracker(Tracker.fixed(0.001f)).build())
        .addTrainingListeners(TrainingListener.Defaults.basic());
  }

  private void fit(RandomAccessDataset dataset, Block block, Shape input, Loss loss)
      throws IOException, TranslateException {
    try (Model model = Model.newInstance("trained")) {
      model.setBlock(block);
      DefaultTrainingConfig config =
          config(loss).addTrainingListeners(new PerEpoch(dataset.size()));
      try (Trainer trainer = model.newTrainer(config)) {
        trainer.initialize(input);
        EasyTrain.fit(trainer, epochs, dataset, null);
      }
    }
  }

  /** A hand-written loop. */
  private void fitByHand(RandomAccessDataset dataset, Block block, Shape input, Loss loss)
      throws IOException, TranslateException {
    try (Model model = Model.newInstance("trained")) {
      model.setBlock(block);
      try (Trainer trainer = model.newTrainer(config(loss))) {
        trainer.initialize(input);
        EpochLines lines = new EpochLines();
        for (int epoch = 0; epoch < epochs; epoch++) {
          double sum = 0;
          for (Batch batch : trainer.iterateDataset(dataset)) {
            try (GradientCollector collector = trainer.newGradientCollector()) {
              NDList predictions = trainer.forward(batch.getData());
              NDArray mean = loss.evaluate(batch.getLabels(), predictions);
              collector.backward(mean);
              sum += mean.getFloat();
            }
            trainer.step();
            batch.close();
          }
          lines.endEpoch(dataset.size(), sum);
        }
      }
    }
  }

  /** Loads every batch without training; sums the loaded values. */
  private void load(RandomAccessDataset dataset) throws IOException, TranslateException {
    try (NDManager manager = NDManager.newBaseManager()) {
      EpochLines lines = new EpochLines();
      for (int epoch = 0; epoch < epochs; epoch++) {
        double sum = 0;
        for (Batch batch : dataset.getData(manager)) {
          sum += batch.getData().head().sum().getFloat();
          batch.close();
        }
        lines.endEpoch(dataset.size(), sum);
      }
    }
  }

  /** Prints a line after each epoch. */
  private static final class PerEpoch extends TrainingListenerAdapter {
    private final EpochLines lines = new EpochLines();
    private final long samples;

    PerEpoch(long samples) {
      this.samples = samples;
    }

    @Override
    public void onTrainingBegin(Trainer trainer) {
      lines.begin();
    }

    @Override
    public void onEpoch(Trainer trainer) {
      lines.endEpoch(samples, trainer.getTrainingResult().getTrainLoss());
    }
  }

  // ---- models

  private static Block resNet(int layers) {
    return ResNetV1.builder()
        .setImageShape(new Shape(3, SIZE, SIZE))
        .setNumLayers(layers)
        .setOutSize(2)
        .build();
  }

  private static Block mlp(int out, int... hidden) {
    SequentialBlock layers = new SequentialBlock();
    for (int units : hidden) {
      layers.add(Linear.builder().setUnits(units).build()).add(Activation.reluBlock());
    }
    return layers.add(Linear.builder().setUnits(out).build());
  }

  private static Block bagOfWords(Vocabulary vocabulary) {
    return new SequentialBlock()
        .add(new TrainableWordEmbedding(vocabulary, 64))
        .add(new LambdaBlock(words -> new NDList(words.singletonOrThrow().mean(new int[] {1}))))
        .add(Linear.builder().setUnits(2).build());
  }

  // ---- data

  private ImageFolder pictures() throws IOException, TranslateException {
    ImageFolder pictures =
        ImageFolder.builder()
            .setRepositoryPath(Path.of(data))
            .optMaxDepth(2)
            .setSampling(BATCH, true)
            .addTransform(new RandomResizedCrop(SIZE, SIZE))
            .addTransform(new RandomFlipLeftRight())
            .addTransform(new ToTensor())
            .addTransform(
                new Normalize(new float[] {.485f, .456f, .406f}, new float[] {.229f, .224f, .225f}))
            .build();
    pictures.prepare();
    return pictures;
  }

  /** Returns pictures without random transforms. */
  private ImageFolder still() throws IOException, TranslateException {
    ImageFolder images =
        ImageFolder.builder()
            .setRepositoryPath(Path.of(data))
            .optMaxDepth(2)
            .setSampling(BATCH, true)
            .addTransform(new Resize(SIZE, SIZE))
            .addTransform(new ToTensor())
            .build();
    images.prepare();
    return images;
  }

  private static Builder sampling() {
    return new Builder().setSampling(BATCH, true);
  }

  private CsvDataset table() throws IOException, TranslateException {
    CsvDataset.CsvBuilder<?> builder =
        CsvDataset.builder()
            .optCsvFile(Path.of(data, "table.csv"))
            .setCsvFormat(CSVFormat.DEFAULT.builder().setHeader().setSkipHeaderRecord(true).get());
    for (int column = 0; column < TrainingData.COLUMNS - 1; column++) {
      builder.addNumericFeature("c" + column);
    }
    builder.addNumericLabel("c" + (TrainingData.COLUMNS - 1));
    CsvDataset table = builder.setSampling(BATCH, true).build();
    table.prepare();
    return table;
  }

  private RandomAccessDataset sound() throws IOException {
    return new Sound(new Builder().setSampling(BATCH, true), Waves.files(Path.of(data)));
  }

  /** Returns sounds with a transform that is a lambda. */
  private RandomAccessDataset scaled() throws IOException {
    float by = 0.5f;
    return new Sound(
        sampling().optPipeline(new Pipeline(array -> array.mul(by))), Waves.files(Path.of(data)));
  }

  private RandomAccessDataset inMemory(NDManager manager) {
    int samples = Integer.parseInt(data);
    NDArray labels = manager.arange(samples).mod(2);
    return new ArrayDataset.Builder()
        .setData(manager.randomNormal(new Shape(samples, 3, SIZE, SIZE)))
        .optLabels(labels.toType(DataType.FLOAT32, false))
        .setSampling(BATCH, true)
        .build();
  }

  /** Holds the sampling options of the data sets. */
  private static final class Builder extends RandomAccessDataset.BaseBuilder<Builder> {
    @Override
    protected Builder self() {
      return this;
    }
  }

  /** Lines of words, converted to numbers. */
  private static final class Sentences extends RandomAccessDataset {
    static final int LENGTH = 512;
    private static final List<TextProcessor> PROCESSORS =
        List.of(
            new SimpleTokenizer(), new PunctuationSeparator(), new LowerCaseConvertor(Locale.ROOT));
    private final List<String> lines;
    private final Vocabulary vocabulary;

    Sentences(Builder builder, List<String> lines, Vocabulary vocabulary) {
      super(builder);
      this.lines = List.copyOf(lines);
      this.vocabulary = vocabulary;
    }

    /** Returns the words of a line, without the class at its beginning. */
    static List<String> words(String line) {
      List<String> words = List.of(line.substring(2));
      for (TextProcessor processor : PROCESSORS) {
        words = processor.preprocess(words);
      }
      return words;
    }

    @Override
    public Record get(NDManager manager, long index) {
      String line = lines.get(Math.toIntExact(index));
      List<String> words = words(line);
      long[] numbers = new long[LENGTH];
      for (int i = 0; i < Math.min(LENGTH, words.size()); i++) {
        numbers[i] = vocabulary.getIndex(words.get(i));
      }
      return new Record(
          new NDList(manager.create(numbers)),
          new NDList(manager.create((float) (line.charAt(0) - '0'))));
    }

    @Override
    protected long availableSize() {
      return lines.size();
    }

    @Override
    public void prepare(Progress progress) {
      // Nothing to do.
    }
  }

  /** Sounds, converted to the energy at each frequency. */
  private static final class Sound extends RandomAccessDataset {
    private final List<Path> files;

    Sound(Builder builder, List<Path> files) {
      super(builder);
      this.files = List.copyOf(files);
    }

    @Override
    public Record get(NDManager manager, long index) throws IOException {
      float[] bands = bands(files.get(Math.toIntExact(index)));
      return new Record(
          new NDList(manager.create(bands)), new NDList(manager.create((float) (index % 2))));
    }

    private static float[] bands(Path file) throws IOException {
      return Waves.bands(Files.readAllBytes(file));
    }

    @Override
    protected long availableSize() {
      return files.size();
    }

    @Override
    public void prepare(Progress progress) {
      // Nothing to do.
    }
  }
}
