package example.prepared;

import static java.nio.file.StandardOpenOption.APPEND;

import example.bits.ArrayBytes;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.SequenceRecordReader;
import org.datavec.api.records.reader.impl.LineRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVSequenceRecordReader;
import org.datavec.api.records.reader.impl.transform.TransformProcessRecordReader;
import org.datavec.api.split.FileSplit;
import org.datavec.api.split.NumberedFileInputSplit;
import org.datavec.api.transform.MathOp;
import org.datavec.api.transform.TransformProcess;
import org.datavec.api.transform.condition.Condition;
import org.datavec.api.transform.condition.ConditionOp;
import org.datavec.api.transform.condition.SequenceConditionMode;
import org.datavec.api.transform.condition.column.BaseColumnCondition;
import org.datavec.api.transform.condition.column.DoubleColumnCondition;
import org.datavec.api.transform.schema.Schema;
import org.datavec.api.transform.transform.string.ChangeCaseStringTransform;
import org.datavec.api.transform.transform.string.StringMapTransform;
import org.datavec.api.writable.IntWritable;
import org.datavec.api.writable.Text;
import org.datavec.api.writable.Writable;
import org.datavec.image.recordreader.ImageRecordReader;
import org.datavec.image.transform.FlipImageTransform;
import org.datavec.image.transform.ImageTransform;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.deeplearning4j.datasets.datavec.SequenceRecordReaderDataSetIterator;
import org.deeplearning4j.datasets.iterator.file.FileDataSetIterator;
import org.deeplearning4j.earlystopping.EarlyStoppingConfiguration;
import org.deeplearning4j.earlystopping.scorecalc.DataSetLossCalculator;
import org.deeplearning4j.earlystopping.termination.MaxEpochsTerminationCondition;
import org.deeplearning4j.earlystopping.trainer.EarlyStoppingTrainer;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.memory.MemoryWorkspace;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.AsyncDataSetIterator;
import org.nd4j.linalg.dataset.ExistingMiniBatchDataSetIterator;
import org.nd4j.linalg.dataset.api.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.MultiDataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.CompositeDataSetPreProcessor;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;
import org.nd4j.linalg.dataset.api.preprocessor.NormalizerMinMaxScaler;
import org.nd4j.linalg.dataset.api.preprocessor.NormalizerStandardize;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Epochs of DL4J's iterators over readers of many kinds. Arguments: {@code PROGRAM[,PROGRAM...]
 * FOLDER SAMPLES}. Missing data is written first, except the images, which must be in
 * FOLDER/pictures. Most programs print a line per batch. Some also print the training thread's CPU
 * time per epoch on standard error.
 */
public final class Dl4jSamples {
  private static final int BATCH = 32;
  private static final int EPOCHS = Integer.getInteger("epochs", 4);
  private static final int COLUMNS = 1190;
  private static final int WORDS = 120;
  private static final int CLASSES = 2;

  /** A factor that a preprocessor reads and the loop changes. */
  private static float level = 1;

  private final Path folder;
  private final int samples;

  private Dl4jSamples(Path folder, int samples) {
    this.folder = folder;
    this.samples = samples;
  }

  /** Runs the programs one after the other. */
  public static void main(String[] args) throws IOException, InterruptedException {
    for (String program : args[0].split(",", -1)) {
      System.out.println("program " + program);
      Nd4j.getRandom().setSeed(1);
      new Dl4jSamples(Path.of(args[1]), Integer.parseInt(args[2])).run(program);
    }
  }

  private void run(String program) throws IOException, InterruptedException {
    switch (program) {
      case "csv" -> loop(program, csv(null));
      case "normalized" -> loop(program, normalized());
      case "text" -> loop(program, text());
      case "sequences" -> loop(program, sequences());
      case "images" -> loop(program, images(new ParentPathLabelGenerator()));
      case "images-shuffled" -> loop(program, images(32, new Random(3), null));
      case "images-packed" -> loop(program, images(224, null, null));
      case "images-large" -> loop(program, images(448, null, null));
      case "images-flipped" ->
          loop(program, images(32, null, new FlipImageTransform(new Random(4))));
      case "arrays" -> arrays();
      case "named-twice", "named-wrapped" -> namedTwice(program.equals("named-wrapped"));
      case "alternating" -> alternating();
      case "saved" -> saved();
      case "own-several" -> several(new OwnIterators.Several(table().toPath()));
      case "prefetched" -> prefetched();
      case "scaled" -> loop(program, csv(new Scaled(0.5f)));
      case "composed" ->
          loop(program, csv(new CompositeDataSetPreProcessor(new Scaled(2), new Counted())));
      case "level" -> loop(program, csv(new Level()));
      case "counter" -> loop(program, csv(new Counted()));
      case "draws" -> loop(program, csv(new Drawing()));
      case "views" -> loop(program, csv(new Views()));
      case "lambda" -> loop(program, csv(batch -> batch.getFeatures().muli(level)));
      case "refitted" -> refitted();
      case "swapped" -> swapped();
      case "kept" -> kept();
      case "rewritten" -> rewritten();
      case "touched" -> touched();
      case "rotated" -> rotated();
      case "tallied" -> tallied(false);
      case "slipping" -> tallied(true);
      case "own-labels" -> loop(program, images(new Flipping()));
      case "labels" -> loop(program, images(new ByFolder()));
      case "shuffled" -> loop(program, shuffled());
      case "failing" -> failing();
      case "deleted" -> meanwhile(Files::delete);
      case "replaced" -> meanwhile(Dl4jSamples::replace);
      case "appended" -> meanwhile(file -> Files.writeString(file, rows(7), APPEND));
      case "condition" -> transformed(new Sometimes("b"), () -> {});
      case "locale" -> locales();
      case "types" -> types();
      case "workspace" -> inAWorkspaceLater();
      case "names" -> loop(program, csv(new Naming()));
      case "static" -> statics();
      case "settings" -> settings();
      case "map" -> changedMap();
      case "pipe" -> pipe();
      case "stopping" -> stopping();
      case "reader",
          "reader-shuffled",
          "reader-draws",
          "reader-counts",
          "reader-reuses",
          "reader-arrays",
          "reader-overrides",
          "reader-sequences",
          "reader-filtered" ->
          loop(program, ofReader(program));
      case "own-seek", "own-early", "own-rewritten", "own-stream" -> disturbed(program);
      default -> own(program);
    }
  }

  private void loop(String program, DataSetIterator iterator) {
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      long start = cpu();
      long printing = 0;
      while (iterator.hasNext()) {
        DataSet batch = iterator.next();
        long before = cpu();
        print(batch);
        level++;
        printing += cpu() - before;
      }
      iterator.reset();
      System.err.println("cpu " + program + " " + epoch + " " + (cpu() - start - printing));
    }
    level = 1;
  }

  private static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  static void print(DataSet batch) {
    System.out.println(
        "features "
            + array(batch.getFeatures())
            + " labels "
            + array(batch.getLabels())
            + " masks "
            + array(batch.getFeaturesMaskArray())
            + " "
            + array(batch.getLabelsMaskArray()));
  }

  private static String array(INDArray array) {
    if (array == null) {
      return "none";
    }
    return String.format(
        Locale.ROOT,
        "%s %s %s %s %s",
        Arrays.toString(array.shape()),
        Arrays.toString(array.stride()),
        array.ordering(),
        array.dataType(),
        ArrayBytes.checksum(array));
  }

  // ---- iterators

  private File table() throws IOException {
    Path file = folder.resolve("dl4j-table-" + samples + ".csv");
    if (!Files.exists(file)) {
      Random random = new Random(5);
      try (BufferedWriter out = Files.newBufferedWriter(file)) {
        for (int row = 0; row < samples; row++) {
          for (int column = 1; column < COLUMNS; column++) {
            out.write(String.format(Locale.ROOT, "%.4f,", random.nextGaussian()));
          }
          out.write(random.nextInt(CLASSES) + "\n");
        }
      }
    }
    return file.toFile();
  }

  private static <T extends RecordReader> T of(T reader, File file)
      throws IOException, InterruptedException {
    reader.initialize(new FileSplit(file));
    return reader;
  }

  private DataSetIterator csv(DataSetPreProcessor preprocessor)
      throws IOException, InterruptedException {
    DataSetIterator iterator =
        new RecordReaderDataSetIterator(
            of(new CSVRecordReader(), table()), BATCH, COLUMNS - 1, CLASSES);
    iterator.setPreProcessor(preprocessor);
    return iterator;
  }

  private DataSetIterator normalized() throws IOException, InterruptedException {
    DataSetIterator iterator = csv(null);
    NormalizerStandardize normalizer = new NormalizerStandardize();
    normalizer.fit(iterator);
    iterator.reset();
    iterator.setPreProcessor(normalizer);
    return iterator;
  }

  /** Words, which a transform process converts to numbers. */
  private DataSetIterator text() throws IOException, InterruptedException {
    List<String> vocabulary = new ArrayList<>();
    for (int word = 0; word < 200; word++) {
      vocabulary.add("word" + word);
    }
    Path file = folder.resolve("dl4j-text-" + samples + ".csv");
    if (!Files.exists(file)) {
      Random random = new Random(6);
      try (BufferedWriter out = Files.newBufferedWriter(file)) {
        for (int row = 0; row < samples; row++) {
          for (int word = 0; word < WORDS; word++) {
            out.write(vocabulary.get(random.nextInt(vocabulary.size())) + ",");
          }
          out.write(random.nextInt(CLASSES) + "\n");
        }
      }
    }
    Schema.Builder schema = new Schema.Builder();
    List<String> names = new ArrayList<>();
    for (int word = 0; word < WORDS; word++) {
      names.add("w" + word);
      schema.addColumnCategorical("w" + word, vocabulary);
    }
    schema.addColumnInteger("class");
    TransformProcess process =
        new TransformProcess.Builder(schema.build())
            .categoricalToInteger(names.toArray(String[]::new))
            .build();
    RecordReader reader =
        new TransformProcessRecordReader(of(new CSVRecordReader(), file.toFile()), process);
    return new RecordReaderDataSetIterator(reader, BATCH, WORDS, CLASSES);
  }

  /** Each sequence is about a second of sound: 80 to 119 frames of 24 bands, as text. */
  private DataSetIterator sequences() throws IOException, InterruptedException {
    Path frames = Files.createDirectories(folder.resolve("dl4j-frames"));
    Random random = new Random(7);
    for (int i = 0; i < samples; i++) {
      Path file = frames.resolve("frames_" + i + ".csv");
      if (!Files.exists(file)) {
        StringBuilder features = new StringBuilder();
        StringBuilder labels = new StringBuilder();
        for (int frame = 80 + random.nextInt(40); frame > 0; frame--) {
          for (int band = 0; band < 24; band++) {
            features.append(band == 0 ? "" : ",").append(random.nextFloat());
          }
          features.append('\n');
          labels.append(random.nextInt(CLASSES)).append('\n');
        }
        Files.writeString(file, features);
        Files.writeString(frames.resolve("labels_" + i + ".csv"), labels);
      }
    }
    return new SequenceRecordReaderDataSetIterator(
        numbered(frames, "frames"),
        numbered(frames, "labels"),
        BATCH,
        CLASSES,
        false,
        SequenceRecordReaderDataSetIterator.AlignmentMode.ALIGN_END);
  }

  private SequenceRecordReader numbered(Path frames, String name)
      throws IOException, InterruptedException {
    SequenceRecordReader reader = new CSVSequenceRecordReader();
    reader.initialize(new NumberedFileInputSplit(frames + "/" + name + "_%d.csv", 0, samples - 1));
    return reader;
  }

  /** A label generator counts its calls; in the second epoch, one label may differ. */
  private void tallied(boolean slips) throws IOException {
    Tallying labels = new Tallying();
    DataSetIterator iterator = images(labels, BATCH / 4);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      labels.slips = slips && epoch == 2;
      while (iterator.hasNext()) {
        print(iterator.next());
      }
      iterator.reset();
    }
  }

  private DataSetIterator images(ParentPathLabelGenerator labels) throws IOException {
    return images(labels, BATCH);
  }

  private DataSetIterator images(ParentPathLabelGenerator labels, int batch) throws IOException {
    ImageRecordReader reader = new ImageRecordReader(32, 32, 3, labels);
    reader.initialize(new FileSplit(folder.resolve("pictures").toFile()));
    DataSetIterator iterator =
        new RecordReaderDataSetIterator(reader, batch, 1, reader.numLabels());
    iterator.setPreProcessor(new ImagePreProcessingScaler());
    return iterator;
  }

  /**
   * Pictures scaled to {@code size} x {@code size} pixels.
   *
   * @param order shuffles the files before each epoch; null keeps their order
   * @param transform null for none
   */
  private DataSetIterator images(int size, Random order, ImageTransform transform)
      throws IOException {
    File pictures = folder.resolve("pictures").toFile();
    ImageRecordReader reader =
        new ImageRecordReader(size, size, 3, new ParentPathLabelGenerator(), transform);
    reader.initialize(order == null ? new FileSplit(pictures) : new FileSplit(pictures, order));
    DataSetIterator iterator =
        new RecordReaderDataSetIterator(reader, BATCH, 1, reader.numLabels());
    iterator.setPreProcessor(new ImagePreProcessingScaler());
    return iterator;
  }

  /** Batches in files, read by iterators of ND4J and of DL4J. */
  private void saved() throws IOException, InterruptedException {
    Path batches = folder.resolve("dl4j-batches-" + samples);
    if (!Files.exists(batches)) {
      Path made = Files.createTempDirectory(folder, "batches");
      DataSetIterator iterator = csv(null);
      for (int i = 0; iterator.hasNext(); i++) {
        iterator.next().save(made.resolve("dataset-" + i + ".bin").toFile());
      }
      Files.move(made, batches);
    }
    loop("saved", new ExistingMiniBatchDataSetIterator(batches.toFile()));
    loop(
        "saved",
        new FileDataSetIterator(new File[] {batches.toFile()}, true, null, BATCH, (String[]) null));
  }

  private void arrays() throws IOException, InterruptedException {
    several(
        new RecordReaderMultiDataSetIterator.Builder(BATCH)
            .addReader("csv", of(new CSVRecordReader(), table()))
            .addInput("csv", 0, 99)
            .addInput("csv", 100, COLUMNS - 2)
            .addOutputOneHot("csv", COLUMNS - 1, CLASSES)
            .build());
  }

  /** One reader under two names: each name takes the rows that follow those of the other. */
  private void namedTwice(boolean isWrapped) throws IOException, InterruptedException {
    RecordReader reader = of(new CSVRecordReader(), table());
    RecordReader second = reader;
    if (isWrapped) {
      Schema.Builder schema = new Schema.Builder();
      for (int column = 0; column < COLUMNS; column++) {
        schema.addColumnFloat("c" + column);
      }
      TransformProcess process =
          new TransformProcess.Builder(schema.build())
              .floatMathOp("c0", MathOp.Multiply, 2)
              .build();
      second = new TransformProcessRecordReader(reader, process);
    }
    several(
        new RecordReaderMultiDataSetIterator.Builder(BATCH / 2)
            .addReader("first", reader)
            .addReader("second", second)
            .addInput("first", 0, 99)
            .addInput("second", 0, 99)
            .addOutputOneHot("second", COLUMNS - 1, CLASSES)
            .build());
  }

  /** Two iterators take batches from one reader in turn. */
  private void alternating() throws IOException, InterruptedException {
    RecordReader reader = of(new CSVRecordReader(), table());
    DataSetIterator one = new RecordReaderDataSetIterator(reader, BATCH, COLUMNS - 1, CLASSES);
    DataSetIterator other =
        new RecordReaderDataSetIterator(reader, BATCH / 2, COLUMNS - 1, CLASSES);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      while (one.hasNext()) {
        print(one.next());
        if (other.hasNext()) {
          print(other.next());
        }
      }
      (epoch % 2 == 0 ? one : other).reset();
    }
  }

  private static void several(MultiDataSetIterator iterator) {
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      while (iterator.hasNext()) {
        MultiDataSet batch = iterator.next();
        System.out.println(
            "arrays "
                + array(batch.getFeatures(0))
                + " "
                + array(batch.getFeatures(1))
                + " "
                + array(batch.getLabels(0)));
      }
      iterator.reset();
    }
  }

  /** A custom iterator, and a loop that changes the state that the iterator may read. */
  private void own(String kind) throws IOException {
    OwnIterators.Knobs knobs = new OwnIterators.Knobs();
    DataSetIterator rows = OwnIterators.of(kind, table().toPath(), knobs);
    Set<String> seen = new HashSet<>();
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      if (kind.equals("own-zip")) {
        rows = OwnIterators.of(kind, zipped(epoch % 2 == 0), knobs);
      } else if (kind.equals("own-order")) {
        rows = OwnIterators.of(kind, table().toPath(), knobs);
      } else if (kind.equals("own-scaled")) {
        rows.setPreProcessor(new Scaled(Math.floorDiv(epoch, 2)));
      }
      while (rows.hasNext()) {
        DataSet batch = rows.next();
        if (batch == null) {
          System.out.println("nothing");
        } else if (kind.equals("own-device")) {
          System.out.println("another " + seen.add(array(batch.getFeatures())));
        } else {
          System.out.print(batch.getClass().getSimpleName() + " of ");
          print(batch);
        }
        if (rows instanceof OwnIterators.OfHeld) {
          batch.getFeatures().muli(2);
        }
        OwnIterators.level++;
        knobs.level++;
        System.setProperty("level", String.valueOf(knobs.level));
        Thread.currentThread().setName("a".repeat(1 + (int) knobs.level));
        if (rows instanceof OwnIterators.OfField field) {
          field.level += epoch;
        } else if (rows instanceof OwnIterators.OfWay way && kind.equals("own-way")) {
          float level = knobs.level;
          way.way = new OwnIterators.Plus(level);
        } else if (rows instanceof Queues.Offsets queue && kind.equals("own-queue-grown")) {
          if (queue.offsets.size() < 2 * BATCH && batch.numExamples() == BATCH) {
            queue.offsets.addFirst(epoch);
          }
        }
      }
      rows.reset();
    }
    OwnIterators.level = 1;
  }

  /** A reader of the program's own class; its words become numbers. */
  private DataSetIterator ofReader(String kind) throws IOException, InterruptedException {
    OwnReaders.Rows rows = of(OwnReaders.of(kind), table());
    if (rows instanceof OwnReaders.Sequences sequences) {
      return new SequenceRecordReaderDataSetIterator(sequences, BATCH, CLASSES, 2, false);
    } else if (rows instanceof OwnReaders.Vectors) {
      return new RecordReaderDataSetIterator(rows, BATCH, 1, CLASSES);
    }
    Schema schema =
        new Schema.Builder()
            .addColumnDouble("a")
            .addColumnFloat("b")
            .addColumnCategorical("c", "minus", "plus")
            .addColumnInteger("class")
            .build();
    TransformProcess.Builder process =
        new TransformProcess.Builder(schema).categoricalToInteger("c");
    if (kind.endsWith("filtered")) {
      process.filter(new DoubleColumnCondition("a", ConditionOp.GreaterThan, 1));
    }
    return new RecordReaderDataSetIterator(
        new TransformProcessRecordReader(rows, process.build()), BATCH, 3, CLASSES);
  }

  /** Returns a table in a new file system, each time at the same path. */
  private Path zipped(boolean isReversed) throws IOException {
    Path zip = folder.resolve("own-" + isReversed + ".zip");
    Files.deleteIfExists(zip);
    List<String> lines = new ArrayList<>(Files.readAllLines(table().toPath()));
    if (isReversed) {
      Collections.reverse(lines);
    }
    return Files.write(
        FileSystems.newFileSystem(zip, Map.of("create", "true")).getPath("/table.csv"), lines);
  }

  /** Epochs that end early, skip rows or change the batch size, or whose file changes. */
  private void disturbed(String kind) throws IOException {
    Path file = folder.resolve("own-" + kind + ".csv");
    Files.copy(table().toPath(), file, StandardCopyOption.REPLACE_EXISTING);
    OwnIterators.Rows rows =
        (OwnIterators.Rows) OwnIterators.of(kind, file, new OwnIterators.Knobs());
    for (int epoch = 1; epoch <= 2 * EPOCHS; epoch++) {
      print(rows.next());
      switch (kind) {
        case "own-early" -> print(rows.next());
        case "own-seek" -> rows.seek(epoch % 3);
        default -> {
          List<String> lines = new ArrayList<>(Files.readAllLines(file));
          Collections.swap(lines, 0, epoch);
          Files.write(file, lines);
          Files.setLastModifiedTime(file, FileTime.fromMillis(1000L * epoch));
        }
      }
      print(rows.next(epoch % 2 == 0 ? 7 : 32));
      System.out.println("has next " + rows.hasNext());
      rows.reset();
    }
  }

  /** The trainer itself takes the batches, without a thread of the library. */
  private void stopping() throws IOException, InterruptedException {
    MultiLayerConfiguration configuration =
        new NeuralNetConfiguration.Builder()
            .seed(3)
            .list()
            .layer(new OutputLayer.Builder().nIn(COLUMNS - 1).nOut(CLASSES).build())
            .build();
    MultiLayerNetwork network = new MultiLayerNetwork(configuration);
    network.init();
    EarlyStoppingConfiguration<MultiLayerNetwork> stopping =
        new EarlyStoppingConfiguration.Builder<MultiLayerNetwork>()
            .epochTerminationConditions(new MaxEpochsTerminationCondition(EPOCHS))
            .scoreCalculator(new DataSetLossCalculator(csv(null), true))
            .build();
    new EarlyStoppingTrainer(stopping, network, csv(null)).fit();
    System.out.println("score " + network.score() + " " + array(network.params()));
  }

  /** Batches that DL4J prefetches into a workspace, as in {@code fit}. */
  private void prefetched() throws IOException, InterruptedException {
    DataSetIterator iterator = csv(new Scaled(3));
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      AsyncDataSetIterator prefetched = new AsyncDataSetIterator(iterator, 2, true);
      while (prefetched.hasNext()) {
        print(prefetched.next());
      }
      prefetched.shutdown();
      iterator.reset();
    }
  }

  // ---- state that changes

  /** The statistics of a normalizer change during an epoch. */
  private void refitted() throws IOException, InterruptedException {
    DataSetIterator iterator = csv(null);
    NormalizerMinMaxScaler scaler = new NormalizerMinMaxScaler();
    scaler.fit(iterator);
    iterator.reset();
    iterator.setPreProcessor(scaler);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      for (int number = 0; iterator.hasNext(); number++) {
        print(iterator.next());
        if (number == 1) {
          scaler.getMin().addi(epoch);
        }
      }
      iterator.reset();
    }
  }

  /** Replaces or removes the preprocessor after the first batch of each epoch. */
  private void swapped() throws IOException, InterruptedException {
    DataSetIterator iterator = csv(null);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      iterator.setPreProcessor(new Scaled(2));
      for (int number = 0; iterator.hasNext(); number++) {
        print(iterator.next());
        if (number == 0) {
          iterator.setPreProcessor(epoch % 2 == 0 ? new Scaled(3) : null);
        }
      }
      iterator.reset();
    }
  }

  /** The loop keeps and changes batches. */
  private void kept() throws IOException, InterruptedException {
    DataSetIterator iterator = csv(null);
    List<DataSet> all = new ArrayList<>();
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      while (iterator.hasNext()) {
        DataSet batch = iterator.next();
        print(batch);
        batch.getFeatures().muli(epoch);
        batch.getLabels().assign(7);
        all.add(batch);
      }
      iterator.reset();
    }
    all.forEach(Dl4jSamples::print);
  }

  /** A file is rewritten between epochs, or replaced by another of equal size and time. */
  private void rewritten() throws IOException, InterruptedException {
    Path file = folder.resolve("dl4j-rewritten.csv");
    Files.writeString(file, rows(0));
    DataSetIterator iterator =
        new RecordReaderDataSetIterator(
            of(new CSVRecordReader(), file.toFile()), BATCH, 2, CLASSES);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      while (iterator.hasNext()) {
        print(iterator.next());
      }
      if (epoch % 2 == 0) {
        Files.writeString(file, rows(epoch));
      } else {
        FileTime time = Files.getLastModifiedTime(file);
        Path other = Files.writeString(file.resolveSibling("dl4j-other.csv"), rows(epoch));
        Files.setLastModifiedTime(other, time);
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
      }
      iterator.reset();
    }
  }

  /** A file changes every two epochs, in ways that keep its size and time. */
  private void touched() throws IOException, InterruptedException {
    Path file = folder.resolve("dl4j-touched-" + ProcessHandle.current().pid() + ".csv");
    Touched.copy(table().toPath(), file);
    DataSetIterator iterator =
        new RecordReaderDataSetIterator(
            of(new CSVRecordReader(), file.toFile()), BATCH, COLUMNS - 1, CLASSES);
    for (Touched change : Touched.values()) {
      change.make(file);
      for (int epoch = 1; epoch <= 2; epoch++) {
        iterator.reset();
        while (iterator.hasNext()) {
          print(iterator.next());
        }
      }
    }
    Files.delete(file);
  }

  /** A file is replaced after the next epoch has opened it but before it is read. */
  private void rotated() throws IOException, InterruptedException {
    Path file = folder.resolve("dl4j-rotated.csv");
    Files.writeString(file, rows(0));
    DataSetIterator iterator =
        new RecordReaderDataSetIterator(
            of(new CSVRecordReader(), file.toFile()), BATCH, 2, CLASSES);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      while (iterator.hasNext()) {
        print(iterator.next());
      }
      iterator.reset();
      if (epoch != 2) {
        Path other = Files.writeString(file.resolveSibling("dl4j-next.csv"), rows(epoch));
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  private static String rows(int seed) {
    StringBuilder rows = new StringBuilder();
    for (int row = 0; row < 3 * BATCH; row++) {
      rows.append(row % 10).append(',').append(seed).append(',').append(row % CLASSES).append('\n');
    }
    return rows.toString();
  }

  private DataSetIterator shuffled() throws IOException, InterruptedException {
    Path folders = Files.createDirectories(folder.resolve("dl4j-shuffled"));
    for (int file = 0; file < 8; file++) {
      Files.writeString(folders.resolve(file + ".csv"), rows(file));
    }
    CSVRecordReader reader = new CSVRecordReader();
    reader.initialize(new FileSplit(folders.toFile(), new Random(3)));
    return new RecordReaderDataSetIterator(reader, BATCH, 2, CLASSES);
  }

  /** One record always has an invalid class. */
  private void failing() throws IOException, InterruptedException {
    Path file = folder.resolve("dl4j-failing.csv");
    Files.writeString(file, rows(0) + "1,2,9\n" + rows(1));
    LineRecordReader reader = of(new CSVRecordReader(), file.toFile());
    DataSetIterator iterator = new RecordReaderDataSetIterator(reader, BATCH, 2, CLASSES);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      for (int call = 0; call < 20 && iterator.hasNext(); call++) {
        try {
          print(iterator.next());
        } catch (RuntimeException e) {
          System.out.println("failed " + e.getMessage());
        }
      }
      iterator.reset();
    }
  }

  /** A change to a file while it is being read. */
  private interface Change {
    void to(Path file) throws IOException;
  }

  private static void replace(Path file) throws IOException {
    Path other = Files.writeString(file.resolveSibling("dl4j-replacing.csv"), rows(9));
    Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
  }

  private void meanwhile(Change change) throws IOException, InterruptedException {
    Path file = folder.resolve("dl4j-meanwhile.csv");
    Files.writeString(file, rows(0).repeat(100)); // Too long for one read.
    DataSetIterator iterator =
        new RecordReaderDataSetIterator(
            of(new CSVRecordReader(), file.toFile()), BATCH, 2, CLASSES);
    for (int epoch = 1; epoch <= 2; epoch++) {
      for (int number = 0; iterator.hasNext(); number++) {
        print(iterator.next());
        if (epoch == 2 && number == 3) {
          change.to(file);
        }
      }
      if (epoch == 1) {
        iterator.reset();
      }
    }
  }

  private DataSetIterator table(TransformProcess process) throws IOException, InterruptedException {
    StringBuilder rows = new StringBuilder();
    for (int row = 0; row < 3 * BATCH; row++) {
      rows.append(row % 2 == 0 ? "TITLE," : "other,").append(row).append(",").append(row % CLASSES);
      rows.append('\n');
    }
    Path file = Files.writeString(folder.resolve("dl4j-words.csv"), rows);
    return new RecordReaderDataSetIterator(
        new TransformProcessRecordReader(of(new CSVRecordReader(), file.toFile()), process),
        BATCH,
        2,
        CLASSES);
  }

  private static TransformProcess.Builder words(Map<String, String> numbers) {
    return new TransformProcess.Builder(
            new Schema.Builder().addColumnString("a").addColumnsInteger("b", "class").build())
        .transform(new ChangeCaseStringTransform("a", ChangeCaseStringTransform.CaseType.LOWER))
        .transform(new StringMapTransform("a", numbers));
  }

  /** In Turkish, the lower case of I has no dot. */
  private static Map<String, String> numbers() {
    return new HashMap<>(Map.of("title", "1", "t\u0131tle", "2", "other", "3"));
  }

  /** A custom condition determines the result for each record. */
  private void transformed(Condition condition, Runnable afterEach)
      throws IOException, InterruptedException {
    DataSetIterator iterator =
        table(
            words(numbers())
                .conditionalReplaceValueTransform("b", new IntWritable(-1), condition)
                .build());
    epochs(iterator, afterEach);
  }

  private static void epochs(DataSetIterator iterator, Runnable afterEach) {
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      while (iterator.hasNext()) {
        print(iterator.next());
      }
      afterEach.run();
      iterator.reset();
    }
  }

  private void locales() throws IOException, InterruptedException {
    Locale before = Locale.getDefault();
    epochs(
        table(words(numbers()).build()),
        () ->
            Locale.setDefault(
                Locale.getDefault().getLanguage().equals("tr") ? before : new Locale("tr", "TR")));
    Locale.setDefault(before);
  }

  private void types() throws IOException, InterruptedException {
    DataSetIterator iterator = csv(null);
    DataType[] all = {DataType.DOUBLE, DataType.FLOAT};
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      for (int number = 0; iterator.hasNext(); number++) {
        print(iterator.next());
        if (number == 0) {
          Nd4j.setDefaultDataTypes(DataType.FLOAT, all[epoch % 2]);
        }
      }
      Nd4j.setDefaultDataTypes(DataType.FLOAT, all[epoch / 2]);
      iterator.reset();
    }
    Nd4j.setDefaultDataTypes(DataType.FLOAT, DataType.FLOAT);
  }

  private void inAWorkspaceLater() throws IOException, InterruptedException {
    DataSetIterator iterator = csv(null);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      while (iterator.hasNext()) {
        MemoryWorkspace workspace =
            epoch % 2 == 0 ? Nd4j.getWorkspaceManager().getAndActivateWorkspace("own") : null;
        DataSet batch = iterator.next();
        System.out.println(batch.getFeatures().isAttached() + " " + batch.getLabels().isAttached());
        print(batch);
        if (workspace != null) {
          workspace.close();
        }
      }
      iterator.reset();
    }
  }

  private void statics() throws IOException, InterruptedException {
    DataSetIterator iterator = csv(null);
    Static.MIN_MAX.fit(iterator);
    iterator.reset();
    iterator.setPreProcessor(new Static());
    epochs(iterator, () -> Static.MIN_MAX.getMin().addi(1));
  }

  private void settings() throws IOException {
    ImageRecordReader reader = new ImageRecordReader(32, 32, 3, new ParentPathLabelGenerator());
    reader.initialize(new FileSplit(folder.resolve("pictures").toFile()));
    DataSetIterator iterator =
        new RecordReaderDataSetIterator(reader, BATCH, 1, reader.numLabels());
    epochs(iterator, () -> Collections.reverse(reader.getLabels()));
  }

  /** Changes a map that is passed to a transform, and restores it between epochs. */
  private void changedMap() throws IOException, InterruptedException {
    Map<String, String> numbers = numbers();
    DataSetIterator iterator = table(words(numbers).build());
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      while (iterator.hasNext()) {
        DataSet batch = iterator.next();
        if (epoch > 1) { // A change during an epoch may take effect only in the next one.
          print(batch);
        }
        numbers.put("other", epoch == 1 ? "50" : "3");
      }
      numbers.put("other", "3");
      iterator.reset();
    }
  }

  /** A pipe, which can be read only once. */
  private void pipe() throws IOException, InterruptedException {
    Path pipe = folder.resolve("dl4j-pipe");
    Files.deleteIfExists(pipe);
    new ProcessBuilder("mkfifo", pipe.toString()).inheritIO().start().waitFor();
    Thread writer =
        new Thread(
            () -> {
              try {
                Files.writeString(pipe, rows(3));
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    writer.start();
    RecordReaderMultiDataSetIterator iterator =
        new RecordReaderMultiDataSetIterator.Builder(BATCH)
            .addReader("csv", of(new CSVRecordReader(), pipe.toFile()))
            .addInput("csv", 0, 1)
            .addOutputOneHot("csv", 2, CLASSES)
            .build();
    while (iterator.hasNext()) {
      System.out.println(array(iterator.next().getFeatures(0)));
    }
    writer.join();
  }

  // ---- preprocessors

  /** Names the columns. */
  private static final class Naming implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    @Override
    public void preProcess(DataSet batch) {
      batch.setColumnNames(List.of("a", "b"));
      System.out.println("named");
    }
  }

  /** Uses a mutable object through a final field. */
  private static final class Static implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;
    static final NormalizerMinMaxScaler MIN_MAX = new NormalizerMinMaxScaler();
    private static final DataSetPreProcessor SCALER = MIN_MAX;

    @Override
    public void preProcess(DataSet batch) {
      SCALER.preProcess(batch);
    }
  }

  /** True at random. */
  private static final class Sometimes extends BaseColumnCondition {
    private static final long serialVersionUID = 1;
    private final Random random = new Random(3);

    Sometimes(String column) {
      super(column, SequenceConditionMode.NoSequenceMode);
    }

    @Override
    public boolean columnCondition(Writable value) {
      return condition(value);
    }

    @Override
    public boolean condition(Object value) {
      return random.nextBoolean();
    }

    @Override
    public String toString() {
      return "Sometimes";
    }
  }

  /** Scales the features by the same factor each time. */
  private static final class Scaled implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;
    private final float factor;

    Scaled(float factor) {
      this.factor = factor;
    }

    @Override
    public void preProcess(DataSet batch) {
      batch.getFeatures().muli(factor);
    }
  }

  /** Counts its calls. */
  private static final class Counted implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;
    private int calls;

    @Override
    public void preProcess(DataSet batch) {
      calls++;
      batch.getFeatures().addi(calls);
    }
  }

  /** Depends on a number that the loop changes. */
  private static final class Level implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    @Override
    public void preProcess(DataSet batch) {
      batch.getFeatures().muli(level);
    }
  }

  /** Draws from the library's generator. */
  private static final class Drawing implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    @Override
    public void preProcess(DataSet batch) {
      batch.getFeatures().addi(Nd4j.rand(batch.getFeatures().shape()));
    }
  }

  /** Sets labels that are a view of the features. */
  private static final class Views implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    @Override
    public void preProcess(DataSet batch) {
      batch.setLabels(batch.getFeatures().getColumn(0, true));
      batch.getFeatures().addi(1);
    }
  }

  /** Labels by the name of the folder, the same every time. */
  private static final class ByFolder extends ParentPathLabelGenerator {
    private static final long serialVersionUID = 1;

    @Override
    public Writable getLabelForPath(String path) {
      return new Text(super.getLabelForPath(path).toString());
    }
  }

  /** Counts its calls; on request, the first picture gets the other label. */
  private static final class Tallying extends ParentPathLabelGenerator {
    private static final long serialVersionUID = 1;
    private int calls;
    private String first;
    private boolean slips;

    @Override
    public Writable getLabelForPath(String path) {
      first = calls++ == 0 ? path : first;
      String other =
          path.contains("/class0/")
              ? path.replace("/class0/", "/class1/")
              : path.replace("/class1/", "/class0/");
      return super.getLabelForPath(slips && path.equals(first) ? other : path);
    }
  }

  /** Every third call returns the first class for pictures of the second. */
  private static final class Flipping extends ParentPathLabelGenerator {
    private static final long serialVersionUID = 1;
    private int calls;

    @Override
    public Writable getLabelForPath(String path) {
      String other = ++calls % 3 == 0 ? path.replace("/class1/", "/class0/") : path;
      return super.getLabelForPath(other);
    }
  }
}
