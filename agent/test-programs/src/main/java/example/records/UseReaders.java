package example.records;

import example.bits.ArrayBytes;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.datavec.api.conf.Configuration;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.SequenceRecordReader;
import org.datavec.api.records.reader.impl.FileRecordReader;
import org.datavec.api.records.reader.impl.LineRecordReader;
import org.datavec.api.records.reader.impl.collection.CollectionRecordReader;
import org.datavec.api.records.reader.impl.collection.CollectionSequenceRecordReader;
import org.datavec.api.records.reader.impl.collection.ListStringRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVLineSequenceRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRegexRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVSequenceRecordReader;
import org.datavec.api.records.reader.impl.misc.SVMLightRecordReader;
import org.datavec.api.records.reader.impl.regex.RegexLineRecordReader;
import org.datavec.api.records.reader.impl.regex.RegexSequenceRecordReader;
import org.datavec.api.records.reader.impl.transform.TransformProcessRecordReader;
import org.datavec.api.split.CollectionInputSplit;
import org.datavec.api.split.FileSplit;
import org.datavec.api.split.InputSplit;
import org.datavec.api.split.ListStringSplit;
import org.datavec.api.split.NumberedFileInputSplit;
import org.datavec.api.transform.MathOp;
import org.datavec.api.transform.TransformProcess;
import org.datavec.api.transform.condition.ConditionOp;
import org.datavec.api.transform.condition.column.DoubleColumnCondition;
import org.datavec.api.transform.filter.ConditionFilter;
import org.datavec.api.transform.schema.Schema;
import org.datavec.api.writable.DoubleWritable;
import org.datavec.api.writable.IntWritable;
import org.datavec.api.writable.Writable;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.deeplearning4j.datasets.datavec.SequenceRecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.SequenceRecordReaderDataSetIterator.AlignmentMode;
import org.nd4j.linalg.api.memory.MemoryWorkspace;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.AsyncDataSetIterator;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.MultiDataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.CompositeDataSetPreProcessor;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Iterates over records with DL4J's readers and iterators. Arguments: a folder; settings such as
 * {@code batch=7}; and the uses to run (by default, all). With {@code write}, only writes the
 * folder's text files. Prints each batch with its records' numbers, which are in the first column.
 */
public final class UseReaders {
  private static final int CLASSES = 3;
  private static final int FILES = 4;
  private static final int PER_FILE = 25;
  private static final int SEQUENCES = 30;

  private final File folder;
  private final Map<String, String> settings = new HashMap<>();
  private String use = "";
  private int epochs;
  private int epoch;
  private int batchesLeft;

  private UseReaders(File folder) {
    this.folder = folder;
  }

  /** One way to read. */
  private interface Use {
    void show() throws IOException, InterruptedException;
  }

  /** Runs the uses named in the arguments, or all. */
  public static void main(String[] args) throws IOException, InterruptedException {
    UseReaders all = new UseReaders(new File(args[0]));
    List<String> only = new ArrayList<>();
    for (String argument : Arrays.asList(args).subList(1, args.length)) {
      int equals = argument.indexOf('=');
      if (equals > 0) {
        all.settings.put(argument.substring(0, equals), argument.substring(equals + 1));
      } else {
        only.add(argument);
      }
    }
    all.epochs = all.number("epochs", 3);
    all.batchesLeft = all.number("die", 0);
    if (only.contains("write")) {
      all.write();
      return;
    }
    all.run(only, "csv", all::csv);
    all.run(only, "csv files", all::csvFiles);
    all.run(only, "csv prefetched", all::csvPrefetched);
    all.run(only, "csv shuffled", all::csvShuffled);
    all.run(only, "csv collected", all::csvCollected);
    all.run(only, "csv arrays", all::csvArrays);
    all.run(only, "csv by expressions", all::csvByExpressions);
    all.run(only, "line sequences", all::lineSequences);
    all.run(only, "sequences by expressions", all::sequencesByExpressions);
    all.run(only, "lines", all::lines);
    all.run(only, "regex", all::regex);
    all.run(only, "svmlight", all::svmLight);
    all.run(only, "files", all::files);
    all.run(only, "sequences", all::sequences);
    all.run(only, "aligned", all::aligned);
    all.run(only, "transformed", all::transformed);
    all.run(only, "memory", all::memory);
    all.run(only, "memory of text", all::memoryOfText);
    all.run(only, "memory of sequences", all::memoryOfSequences);
    all.run(only, "several readers", all::severalReaders);
    all.run(only, "keeping", all::keeping);
    all.run(only, "in a workspace", all::inAWorkspace);
    all.run(only, "halved in a workspace", all::halvedInAWorkspace);
    all.run(only, "in every way", all::inEveryWay);
    all.run(only, "filtered", all::filtered);
    all.run(only, "own reader", all::ownReader);
    all.run(only, "empty file", all::emptyFile);
    all.run(only, "other lengths", all::otherLengths);
    all.run(only, "failing", all::failing);
  }

  private void run(List<String> only, String name, Use shown)
      throws IOException, InterruptedException {
    if (only.isEmpty() || only.contains(name)) {
      use = name;
      shown.show();
    }
  }

  private int number(String setting, int defaultValue) {
    String value = settings.get(setting);
    return value == null ? defaultValue : Integer.parseInt(value);
  }

  private char delimiter() {
    return settings.getOrDefault("delimiter", ",").charAt(0);
  }

  // ---- the data

  private void write() throws IOException {
    Random random = new Random(number("content", 1));
    int record = 0;
    StringBuilder one = new StringBuilder("number,a,b,class\n");
    for (int file = 0; file < FILES; file++) {
      StringBuilder csv = new StringBuilder("number,a,b,class\n");
      for (int i = 0; i < PER_FILE; i++, record++) {
        csv.append(row(record, random)).append(i == PER_FILE - 1 && file == 1 ? "" : "\r\n");
      }
      one.append(csv.substring(csv.indexOf("\n") + 1).strip()).append('\n');
      file("files/" + file + ".csv", csv.toString());
      file("gap/" + file + ".csv", file == 2 ? "number,a,b,class\n" : csv.toString());
    }
    file("one.csv", one.toString());
    StringBuilder lines = new StringBuilder();
    StringBuilder svm = new StringBuilder();
    for (int i = 0; i < FILES * PER_FILE; i++) {
      lines.append(i).append('\n');
      svm.append(i % CLASSES).append(" 1:").append(i).append(" 3:0.5\n");
    }
    file("lines.txt", lines.toString());
    file("svm.txt", svm.toString());
    for (int i = 0; i < SEQUENCES; i++) {
      StringBuilder features = new StringBuilder("number,a\n");
      StringBuilder labels = new StringBuilder();
      int steps = 3 + random.nextInt(6);
      for (int step = 0; step < steps; step++) {
        features.append(i).append(',').append(random.nextFloat()).append('\n');
        labels.append(random.nextInt(CLASSES)).append('\n');
      }
      file("sequences/features_" + i + ".csv", features.toString());
      file("sequences/labels_" + i + ".csv", labels.toString());
      file("sequences/last_" + i + ".csv", i % CLASSES + "\n");
      file("texts/" + (i % 2 == 0 ? "even" : "odd") + "/" + i + ".txt", Integer.toString(i));
    }
  }

  private static String row(int record, Random random) {
    return record
        + ","
        + random.nextFloat()
        + ",\""
        + random.nextGaussian()
        + "\","
        + random.nextInt(CLASSES);
  }

  private void file(String name, String text) throws IOException {
    Path path = folder.toPath().resolve(name);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  // ---- readers

  private static <T extends RecordReader> T of(T reader, InputSplit split)
      throws IOException, InterruptedException {
    reader.initialize(split);
    return reader;
  }

  private CSVRecordReader reader(InputSplit split) throws IOException, InterruptedException {
    return of(new CSVRecordReader(1, delimiter()), split);
  }

  private FileSplit split(String name) {
    return new FileSplit(new File(folder, name));
  }

  private DataSetIterator iterator(RecordReader reader) {
    return new RecordReaderDataSetIterator(reader, number("batch", 7), number("label", 3), CLASSES);
  }

  private void csv() throws IOException, InterruptedException {
    epochs(iterator(reader(split("one.csv"))));
  }

  /** Each of the preprocessors creates an array at first use and keeps it. */
  private void keeping() throws IOException, InterruptedException {
    DataSetIterator iterator = iterator(reader(split("one.csv")));
    iterator.setPreProcessor(new CompositeDataSetPreProcessor(new Shift(), new Shift()));
    epochs(iterator);
  }

  /** Subtracts the same row from each record. */
  private static final class Shift implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;
    private transient INDArray mean;

    @Override
    public void preProcess(org.nd4j.linalg.dataset.api.DataSet batch) {
      if (mean == null) {
        mean = Nd4j.create(new float[] {1, 2, 3});
      }
      batch.getFeatures().subiRowVector(mean);
    }
  }

  private void csvFiles() throws IOException, InterruptedException {
    epochs(iterator(reader(split("files"))));
  }

  private void csvPrefetched() throws IOException, InterruptedException {
    DataSetIterator iterator = iterator(reader(split("files")));
    for (epoch = 1; epoch <= epochs; epoch++) {
      AsyncDataSetIterator prefetched = new AsyncDataSetIterator(iterator, 2, true);
      rest(prefetched);
      prefetched.shutdown();
      iterator.reset();
    }
  }

  /** Takes batches while a workspace is open, like DL4J's own prefetch thread. */
  private void inAWorkspace() throws IOException, InterruptedException {
    inAWorkspace(iterator(reader(split("files"))), true);
  }

  /** Takes batches while a workspace is open, with a custom preprocessor. */
  private void halvedInAWorkspace() throws IOException, InterruptedException {
    DataSetIterator iterator = iterator(reader(split("files")));
    iterator.setPreProcessor(new Half());
    inAWorkspace(iterator, false);
  }

  private static final class Half implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    @Override
    public void preProcess(org.nd4j.linalg.dataset.api.DataSet batch) {
      batch.getFeatures().muli(0.5);
    }
  }

  private void inAWorkspace(DataSetIterator iterator, boolean printsWorkspace)
      throws IOException, InterruptedException {
    for (epoch = 1; epoch <= epochs; epoch++) {
      while (iterator.hasNext()) {
        try (MemoryWorkspace own = Nd4j.getWorkspaceManager().getAndActivateWorkspace("own")) {
          DataSet batch = iterator.next();
          if (printsWorkspace) {
            print(
                own.getId()
                    + " has features: "
                    + batch.getFeatures().isAttached()
                    + ", labels: "
                    + batch.getLabels().isAttached());
          }
          print(batch);
        }
      }
      iterator.reset();
    }
  }

  private void csvShuffled() throws IOException, InterruptedException {
    Random random = new Random(number("seed", 1));
    epochs(iterator(reader(new FileSplit(new File(folder, "files"), random))));
  }

  private void csvCollected() throws IOException, InterruptedException {
    InputSplit split =
        new CollectionInputSplit(
            List.of(
                new File(folder, "files/2.csv").toURI(), new File(folder, "files/1.csv").toURI()));
    epochs(iterator(reader(split)));
  }

  private void csvArrays() throws IOException, InterruptedException {
    epochs(
        new RecordReaderMultiDataSetIterator.Builder(number("batch", 7))
            .addReader("csv", reader(split("one.csv")))
            .addInput("csv", 0, 1)
            .addInput("csv", 2, 2)
            .addOutputOneHot("csv", 3, CLASSES)
            .build());
  }

  private void lines() throws IOException, InterruptedException {
    LineRecordReader reader = of(new LineRecordReader(), split("lines.txt"));
    epochs(new RecordReaderDataSetIterator(reader, null, 7, -1, -1, -1, -1, false));
  }

  private void regex() throws IOException, InterruptedException {
    RecordReader reader =
        of(new RegexLineRecordReader("(\\d+),([^,]+),\"([^,]+)\",(\\d)", 1), split("one.csv"));
    epochs(iterator(reader));
  }

  private void csvByExpressions() throws IOException, InterruptedException {
    epochs(iterator(of(new CSVRegexRecordReader(1, ",", "\"", new String[4]), split("one.csv"))));
  }

  /** Each line is one sequence, with a step per column. */
  private void lineSequences() throws IOException, InterruptedException {
    series(of(new CSVLineSequenceRecordReader(1, ','), split("one.csv")));
  }

  private void sequencesByExpressions() throws IOException, InterruptedException {
    series(
        of(
            new RegexSequenceRecordReader("(\\d+),([^,]+)", 1),
            new NumberedFileInputSplit(folder + "/sequences/features_%d.csv", 0, SEQUENCES - 1)));
  }

  private void series(SequenceRecordReader reader) throws IOException, InterruptedException {
    epochs(
        new RecordReaderMultiDataSetIterator.Builder(7)
            .addSequenceReader("series", reader)
            .addInput("series")
            .addOutput("series", 0, 0)
            .build());
  }

  private void svmLight() throws IOException, InterruptedException {
    Configuration settings = new Configuration();
    settings.setInt(SVMLightRecordReader.NUM_FEATURES, 5);
    SVMLightRecordReader reader = new SVMLightRecordReader();
    reader.initialize(settings, split("svm.txt"));
    epochs(new RecordReaderDataSetIterator(reader, 7, 5, CLASSES));
  }

  private void files() throws IOException, InterruptedException {
    FileRecordReader reader = new FileRecordReader();
    reader.initialize(new Configuration(), new FileSplit(new File(folder, "texts"), new Random(2)));
    epochs(new RecordReaderDataSetIterator(reader, 7, 1, 2));
  }

  private SequenceRecordReader numbered(String name, int header)
      throws IOException, InterruptedException {
    return of(
        new CSVSequenceRecordReader(header, settings.getOrDefault("delimiter", ",")),
        new NumberedFileInputSplit(folder + "/sequences/" + name + "_%d.csv", 0, SEQUENCES - 1));
  }

  private void sequences() throws IOException, InterruptedException {
    DataSetIterator iterator =
        new SequenceRecordReaderDataSetIterator(
            numbered("features", 1),
            numbered("labels", 0),
            number("batch", 7),
            CLASSES,
            false,
            AlignmentMode.valueOf(settings.getOrDefault("alignment", "ALIGN_START")));
    epochs(iterator);
  }

  private void aligned() throws IOException, InterruptedException {
    DataSetIterator iterator =
        new SequenceRecordReaderDataSetIterator(
            numbered("features", 1),
            numbered("last", 0),
            7,
            CLASSES,
            false,
            AlignmentMode.ALIGN_END);
    epochs(iterator);
    print(iterator.inputColumns() + " columns, " + iterator.totalOutcomes() + " outcomes");
    rest(iterator);
    // One sequence per batch, because the sequences differ in length.
    epochs(new SequenceRecordReaderDataSetIterator(numbered("features", 1), 1, -1, 1, true));
  }

  private static Schema schema() {
    return new Schema.Builder()
        .addColumnInteger("number")
        .addColumnsDouble("a", "b")
        .addColumnCategorical("class", "0", "1", "2")
        .build();
  }

  private void transformed() throws IOException, InterruptedException {
    TransformProcess process =
        new TransformProcess.Builder(schema())
            .doubleMathOp("a", MathOp.Multiply, number("factor", 2))
            .categoricalToInteger("class")
            .build();
    epochs(iterator(new TransformProcessRecordReader(reader(split("files")), process)));
  }

  private void filtered() throws IOException, InterruptedException {
    TransformProcess process =
        new TransformProcess.Builder(schema())
            .filter(new ConditionFilter(new DoubleColumnCondition("a", ConditionOp.LessThan, 0.5)))
            .build();
    epochs(iterator(new TransformProcessRecordReader(reader(split("files")), process)));
  }

  private void memory() throws IOException, InterruptedException {
    epochs(iterator(new CollectionRecordReader(records())));
  }

  private static List<List<Writable>> records() {
    List<List<Writable>> records = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      records.add(
          List.of(
              new IntWritable(i),
              new DoubleWritable(i / 10.0),
              new DoubleWritable(i * i),
              new IntWritable(i % CLASSES)));
    }
    return records;
  }

  private void memoryOfText() throws IOException, InterruptedException {
    List<List<String>> texts = new ArrayList<>();
    for (List<Writable> record : records()) {
      texts.add(record.stream().map(Writable::toString).toList());
    }
    epochs(iterator(of(new ListStringRecordReader(), new ListStringSplit(texts))));
  }

  private void memoryOfSequences() throws IOException, InterruptedException {
    List<Collection<List<Writable>>> sequences = new ArrayList<>();
    for (List<Writable> record : records()) {
      sequences.add(List.of(record, record));
    }
    epochs(
        new SequenceRecordReaderDataSetIterator(
            new CollectionSequenceRecordReader(sequences), 7, CLASSES, 3));
  }

  private void severalReaders() throws IOException, InterruptedException {
    epochs(
        new RecordReaderMultiDataSetIterator.Builder(number("batch", 7))
            .addReader("lines", of(new LineRecordReader(), split("lines.txt")))
            .addReader("csv", reader(split("files")))
            .addInput("lines")
            .addInput("csv", 1, 2)
            .addOutputOneHot("csv", 3, CLASSES)
            .build());
  }

  private void otherLengths() throws IOException, InterruptedException {
    epochs(
        new RecordReaderMultiDataSetIterator.Builder(7)
            .addReader("lines", of(new LineRecordReader(), split("lines.txt")))
            .addSequenceReader("steps", numbered("features", 1))
            .addInput("steps")
            .addOutput("lines")
            .build());
  }

  /** Calls other than those of a plain loop over batches. */
  private void inEveryWay() throws IOException, InterruptedException {
    CSVRecordReader reader = reader(split("files"));
    DataSetIterator iterator = iterator(reader);
    print(iterator.next());
    print(reader.next().toString());
    rest(iterator);
    iterator.reset();
    print(iterator.next());
    print(iterator.next(2));
    rest(iterator);
    iterator.reset();
    print(iterator.next());
    iterator.reset();
    rest(iterator);
    print("has more: " + reader.hasNext() + " " + iterator.hasNext());
    reader.reset();
    print(iterator.next());
    print(reader.nextRecord().getMetaData().getLocation().replaceAll(".*/", ""));
    reader.reset();
    reader.initialize(split("one.csv"));
    rest(iterator);
    iterator.reset();
    rest(iterator);
    DataSetIterator first = iterator(reader(split("files")));
    print(first.totalOutcomes() + " outcomes");
    rest(first);
    DataSetIterator few = new RecordReaderDataSetIterator(reader(split("files")), 7, 3, CLASSES, 2);
    epochs(few);
    RecordReaderDataSetIterator withMetadata =
        new RecordReaderDataSetIterator(reader(split("files")), 7, 3, CLASSES);
    withMetadata.setCollectMetaData(true);
    epochs(withMetadata);
  }

  /** A custom reader. */
  private static final class EverySecond extends CSVRecordReader {
    private static final long serialVersionUID = 1;

    EverySecond() {
      super(1);
    }

    @Override
    public List<Writable> next() {
      List<Writable> record = super.next();
      if (hasNext()) {
        super.next();
      }
      return record;
    }
  }

  private void ownReader() throws IOException, InterruptedException {
    epochs(iterator(of(new EverySecond(), split("one.csv"))));
  }

  private void emptyFile() throws IOException, InterruptedException {
    epochs(iterator(reader(split("gap"))));
  }

  /** One record has an invalid class. */
  private void failing() throws IOException, InterruptedException {
    List<List<Writable>> records = records();
    records.set(
        17,
        List.of(new IntWritable(17), new IntWritable(0), new IntWritable(0), new IntWritable(9)));
    DataSetIterator iterator = iterator(new CollectionRecordReader(records));
    for (int call = 0; call < 40 && iterator.hasNext(); call++) {
      try {
        print(iterator.next());
      } catch (RuntimeException e) {
        print(e.toString());
      }
    }
  }

  // ---- output

  private void epochs(DataSetIterator iterator) throws IOException, InterruptedException {
    for (epoch = 1; epoch <= epochs; epoch++) {
      rest(iterator);
      iterator.reset();
    }
  }

  private void rest(DataSetIterator iterator) throws IOException, InterruptedException {
    while (iterator.hasNext()) {
      print(iterator.next());
    }
  }

  private void epochs(MultiDataSetIterator iterator) throws IOException, InterruptedException {
    for (epoch = 1; epoch <= epochs; epoch++) {
      while (iterator.hasNext()) {
        MultiDataSet batch = iterator.next();
        print(
            "numbers "
                + numbers(batch.getFeatures(0))
                + " features "
                + arrays(batch.getFeatures())
                + " labels "
                + arrays(batch.getLabels())
                + " masks "
                + arrays(batch.getFeaturesMaskArrays())
                + " "
                + arrays(batch.getLabelsMaskArrays()));
        batchUsed();
      }
      iterator.reset();
    }
  }

  private void print(DataSet batch) throws IOException, InterruptedException {
    print(
        "numbers "
            + numbers(batch.getFeatures())
            + " features "
            + array(batch.getFeatures())
            + " labels "
            + array(batch.getLabels())
            + " masks "
            + array(batch.getFeaturesMaskArray())
            + " "
            + array(batch.getLabelsMaskArray()));
    batchUsed();
  }

  /** Kills this process after the number of batches given by {@code die}. */
  private void batchUsed() throws IOException, InterruptedException {
    batchesLeft--;
    if (batchesLeft == 0) {
      System.out.flush();
      String self = Long.toString(ProcessHandle.current().pid());
      new ProcessBuilder("kill", "-KILL", self).start().waitFor();
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  /** Returns the records' numbers, from the first column; for a sequence, from its first step. */
  private static String numbers(INDArray features) {
    StringBuilder numbers = new StringBuilder();
    for (long i = 0; i < features.size(0); i++) {
      numbers
          .append(i == 0 ? "" : ",")
          .append(
              (int)
                  (features.rank() == 2 ? features.getDouble(i, 0) : features.getDouble(i, 0, 0)));
    }
    return numbers.toString();
  }

  private static String arrays(INDArray[] arrays) {
    return arrays == null
        ? "none"
        : Arrays.stream(arrays).map(UseReaders::array).toList().toString();
  }

  private static String array(INDArray array) {
    if (array == null) {
      return "none";
    }
    String shape = array.shapeInfoToString().replaceAll("\\s+", " ");
    return shape + " " + array.dataType() + " " + ArrayBytes.checksum(array);
  }

  private void print(String line) {
    System.out.println(use + " " + epoch + ": " + line);
  }
}
