package example.images;

import example.bits.ArrayBytes;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.records.reader.impl.collection.CollectionRecordReader;
import org.datavec.api.split.FileSplit;
import org.datavec.api.writable.DoubleWritable;
import org.datavec.api.writable.IntWritable;
import org.datavec.api.writable.Writable;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.datavec.image.recordreader.objdetect.ImageObject;
import org.datavec.image.recordreader.objdetect.ImageObjectLabelProvider;
import org.datavec.image.recordreader.objdetect.ObjectDetectionRecordReader;
import org.datavec.image.transform.FlipImageTransform;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.AsyncDataSetIterator;
import org.nd4j.linalg.dataset.AsyncMultiDataSetIterator;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.MultiDataSet;
import org.nd4j.linalg.dataset.api.MultiDataSetPreProcessor;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;

/**
 * Uses DL4J's iterators over pictures in many ways. Arguments: a folder with one folder of pictures
 * per class, and the uses to show (none: all).
 */
public final class UseIterators {
  private static final int SIZE = 24;
  private static final int BATCH = 7;

  private final File pictures;
  private String use = "";

  private UseIterators(File pictures) {
    this.pictures = pictures;
  }

  /** One way to use an iterator. */
  private interface Use {
    void show() throws IOException;
  }

  /** Prints the batches and the other results of the uses. */
  public static void main(String[] args) throws IOException {
    UseIterators all = new UseIterators(new File(args[0]));
    List<String> only = Arrays.asList(args).subList(1, args.length);
    all.run(only, "epochs", all::epochs);
    all.run(only, "prefetched", all::prefetched);
    all.run(only, "channels last", all::channelsLast);
    all.run(only, "transformed", all::transformed);
    all.run(only, "no labels", all::noLabels);
    all.run(only, "own preprocessor", all::ownPreprocessor);
    all.run(only, "preprocessor changed", all::preprocessorChanged);
    all.run(only, "metadata", all::metadata);
    all.run(only, "few batches", all::fewBatches);
    all.run(only, "another number", all::anotherNumber);
    all.run(only, "reset", all::reset);
    all.run(only, "reader read", all::readerRead);
    all.run(only, "reader initialised", all::readerInitialised);
    all.run(only, "outcomes first", all::outcomesFirst);
    all.run(only, "kept", all::kept);
    all.run(only, "changed in place", all::changedInPlace);
    all.run(only, "own iterator", all::ownIterator);
    all.run(only, "own reader", all::ownReader);
    all.run(only, "failing", all::failing);
    all.run(only, "several arrays", all::severalArrays);
    all.run(only, "objects", all::objects);
    all.run(only, "no pictures", all::noPictures);
  }

  private void run(List<String> only, String name, Use shown) throws IOException {
    if (only.isEmpty() || only.contains(name)) {
      use = name;
      shown.show();
    }
  }

  private static ImageRecordReader initialised(ImageRecordReader reader, File folder)
      throws IOException {
    reader.initialize(new FileSplit(folder, NativeImageLoader.ALLOWED_FORMATS, new Random(3)));
    return reader;
  }

  private ImageRecordReader reader() throws IOException {
    return initialised(
        new ImageRecordReader(SIZE, SIZE, 3, new ParentPathLabelGenerator()), pictures);
  }

  private static RecordReaderDataSetIterator iterator(ImageRecordReader reader) {
    RecordReaderDataSetIterator iterator =
        new RecordReaderDataSetIterator(reader, BATCH, 1, reader.numLabels());
    iterator.setPreProcessor(new ImagePreProcessingScaler(0, 1));
    return iterator;
  }

  private void epochs() throws IOException {
    ImageRecordReader reader = reader();
    DataSetIterator iterator = iterator(reader);
    for (int epoch = 1; epoch <= 3; epoch++) {
      rest(iterator);
      print("last file " + reader.getCurrentFile().getName() + " " + iterator.hasNext());
      try {
        print(iterator.next());
      } catch (RuntimeException e) {
        print(e.toString());
      }
      iterator.reset();
    }
  }

  private void prefetched() throws IOException {
    DataSetIterator iterator = iterator(reader());
    for (int epoch = 1; epoch <= 2; epoch++) {
      AsyncDataSetIterator prefetched = new AsyncDataSetIterator(iterator, 2, true);
      print("has more: " + prefetched.hasNext());
      print(prefetched.next());
      prefetched.reset();
      rest(prefetched);
      prefetched.shutdown();
      iterator.reset();
    }
  }

  private void channelsLast() throws IOException {
    ImageRecordReader reader =
        initialised(
            new ImageRecordReader(SIZE, SIZE, 3, false, new ParentPathLabelGenerator(), null),
            pictures);
    rest(iterator(reader));
  }

  private void transformed() throws IOException {
    ImageRecordReader reader =
        initialised(
            new ImageRecordReader(
                SIZE, SIZE, 3, new ParentPathLabelGenerator(), new FlipImageTransform(1)),
            pictures);
    rest(iterator(reader));
  }

  private void noLabels() throws IOException {
    DataSetIterator iterator =
        new RecordReaderDataSetIterator(
            initialised(new ImageRecordReader(SIZE, SIZE, 3), pictures),
            null,
            BATCH,
            -1,
            -1,
            -1,
            -1,
            false);
    while (iterator.hasNext()) {
      DataSet batch = iterator.next();
      print(batch);
      print("labels are the features: " + (batch.getLabels() == batch.getFeatures()));
    }
  }

  /** A custom preprocessor; its labels are in column order. */
  private static final class Halves implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    private final double factor;

    Halves(double factor) {
      this.factor = factor;
    }

    @Override
    public void preProcess(org.nd4j.linalg.dataset.api.DataSet batch) {
      batch.setFeatures(batch.getFeatures().mul(factor));
      batch.setLabels(batch.getLabels().dup('f'));
      batch.setFeaturesMaskArray(batch.getLabels().dup());
    }
  }

  private void ownPreprocessor() throws IOException {
    DataSetIterator iterator = iterator(reader());
    iterator.setPreProcessor(new Halves(0.5));
    rest(iterator);
  }

  private void preprocessorChanged() throws IOException {
    DataSetIterator iterator = iterator(reader());
    print(iterator.next());
    iterator.setPreProcessor(new Halves(0.25));
    rest(iterator);
  }

  private void metadata() throws IOException {
    RecordReaderDataSetIterator iterator = iterator(reader());
    iterator.setCollectMetaData(true);
    while (iterator.hasNext()) {
      DataSet batch = iterator.next();
      print(batch);
      print(batch.getExampleMetaData().size() + " metadata");
    }
  }

  private void fewBatches() throws IOException {
    ImageRecordReader reader = reader();
    DataSetIterator iterator =
        new RecordReaderDataSetIterator(reader, BATCH, 1, reader.numLabels(), 2);
    for (int epoch = 1; epoch <= 2; epoch++) {
      rest(iterator);
      iterator.reset();
    }
  }

  private void anotherNumber() throws IOException {
    DataSetIterator iterator = iterator(reader());
    print(iterator.next());
    print(iterator.next(2));
    rest(iterator);
    iterator.reset();
    print(iterator.next(2));
    rest(iterator);
  }

  private void reset() throws IOException {
    DataSetIterator iterator = iterator(reader());
    print(iterator.next());
    print(iterator.next());
    iterator.reset();
    rest(iterator);
    iterator.reset();
    iterator.reset();
    rest(iterator);
  }

  private void readerRead() throws IOException {
    ImageRecordReader reader = reader();
    DataSetIterator iterator = iterator(reader);
    print(iterator.next());
    print("record of " + reader.next().size() + " from " + reader.getCurrentFile().getName());
    rest(iterator);
    reader.reset();
    rest(iterator);
  }

  private void readerInitialised() throws IOException {
    ImageRecordReader reader = reader();
    DataSetIterator iterator = iterator(reader);
    print(iterator.next());
    initialised(reader, pictures.listFiles()[0]);
    rest(iterator);
  }

  private void outcomesFirst() throws IOException {
    DataSetIterator iterator = iterator(reader());
    print(iterator.totalOutcomes() + " outcomes");
    rest(iterator);
  }

  private void kept() throws IOException {
    DataSetIterator iterator = iterator(reader());
    List<DataSet> kept = new ArrayList<>();
    for (int epoch = 1; epoch <= 3; epoch++) {
      while (iterator.hasNext()) {
        kept.add(iterator.next());
      }
      iterator.reset();
    }
    for (int epoch = 1; epoch <= 4; epoch++) {
      System.gc(); // Memory of unreachable batches may be reused now; that of kept ones must not.
      while (iterator.hasNext()) {
        iterator.next();
      }
      iterator.reset();
    }
    kept.forEach(this::print);
  }

  private void changedInPlace() throws IOException {
    DataSetIterator iterator = iterator(reader());
    while (iterator.hasNext()) {
      DataSet batch = iterator.next();
      batch.getFeatures().muli(2);
      INDArray first = batch.getFeatures().tensorAlongDimension(0, 1, 2, 3);
      print("first of batch", first);
      batch.shuffle(5);
      print(batch);
    }
  }

  /** A custom iterator. */
  private static final class Doubled extends RecordReaderDataSetIterator {
    private static final long serialVersionUID = 1;

    Doubled(ImageRecordReader reader) {
      super(reader, BATCH, 1, reader.numLabels());
    }

    @Override
    public DataSet next(int num) {
      DataSet batch = super.next(num);
      batch.getFeatures().muli(2);
      return batch;
    }
  }

  private void ownIterator() throws IOException {
    DataSetIterator iterator = new Doubled(reader());
    rest(iterator);
    iterator.reset();
    rest(iterator);
  }

  /** A custom reader. */
  private static final class EverySecond extends ImageRecordReader {
    private static final long serialVersionUID = 1;

    EverySecond() {
      super(SIZE, SIZE, 3, new ParentPathLabelGenerator());
    }

    @Override
    public List<List<Writable>> next(int num) {
      iter.next();
      return super.next(num);
    }
  }

  private void ownReader() throws IOException {
    rest(iterator(initialised(new EverySecond(), pictures)));
  }

  /** A custom label generator; once armed, it throws for some pictures. */
  private static final class Strict extends ParentPathLabelGenerator {
    private static final long serialVersionUID = 1;

    private boolean armed;

    @Override
    public Writable getLabelForPath(String path) {
      if (armed && path.endsWith("3.jpg")) {
        throw new UnsupportedOperationException("no label for " + new File(path).getName());
      }
      return super.getLabelForPath(path);
    }
  }

  private void failing() throws IOException {
    Strict labels = new Strict();
    ImageRecordReader reader = initialised(new ImageRecordReader(SIZE, SIZE, 3, labels), pictures);
    labels.armed = true;
    DataSetIterator iterator = iterator(reader);
    for (int call = 1; call <= 40 && iterator.hasNext(); call++) {
      try {
        print(iterator.next());
      } catch (UnsupportedOperationException e) {
        print(e.getMessage() + " of " + reader.getCurrentFile().getName() + "\n" + stack(e));
      }
    }
  }

  private static String stack(Throwable thrown) {
    StringBuilder frames = new StringBuilder();
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      frames.append("  ").append(cause.getClass()).append('\n');
      for (StackTraceElement frame : cause.getStackTrace()) {
        if (frame.getClassName().startsWith("org.deeplearning4j.")
            || frame.getClassName().startsWith("example.")) {
          frames.append("    ").append(frame).append('\n');
        }
      }
    }
    return frames.toString();
  }

  /** A custom preprocessor. */
  private static final class Scaled implements MultiDataSetPreProcessor {
    private static final long serialVersionUID = 1;

    @Override
    public void preProcess(MultiDataSet batch) {
      batch.getFeatures(0).divi(255);
    }
  }

  private void severalArrays() throws IOException {
    ImageRecordReader reader = reader();
    RecordReaderMultiDataSetIterator iterator =
        new RecordReaderMultiDataSetIterator.Builder(BATCH)
            .addReader("pictures", reader)
            .addInput("pictures", 0, 0)
            .addOutputOneHot("pictures", 1, reader.numLabels())
            .addOutput("pictures", 1, 1)
            .build();
    iterator.setPreProcessor(new Scaled());
    for (int epoch = 1; epoch <= 2; epoch++) {
      rest(iterator);
      iterator.reset();
      MultiDataSetIterator prefetched = new AsyncMultiDataSetIterator(iterator, 2, true);
      rest(prefetched);
      iterator.reset();
    }
  }

  private void noPictures() {
    List<List<Writable>> records = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      records.add(List.of(new DoubleWritable(i / 10.0), new IntWritable(i % 3)));
    }
    RecordReaderDataSetIterator iterator =
        new RecordReaderDataSetIterator(new CollectionRecordReader(records), BATCH, 1, 3);
    for (int epoch = 1; epoch <= 2; epoch++) {
      rest(iterator);
      iterator.reset();
    }
  }

  /** Custom labels: one object of the picture's class in each picture. */
  private static final class Middle implements ImageObjectLabelProvider {
    @Override
    public List<ImageObject> getImageObjectsForPath(String path) {
      return List.of(new ImageObject(10, 20, 50, 60, new File(path).getParentFile().getName()));
    }

    @Override
    public List<ImageObject> getImageObjectsForPath(URI path) {
      return getImageObjectsForPath(new File(path).getPath());
    }
  }

  private void objects() throws IOException {
    ObjectDetectionRecordReader reader =
        new ObjectDetectionRecordReader(SIZE, SIZE, 3, 4, 4, new Middle());
    reader.initialize(new FileSplit(pictures, NativeImageLoader.ALLOWED_FORMATS, new Random(3)));
    DataSetIterator iterator = new RecordReaderDataSetIterator(reader, BATCH, 1, 1, true);
    for (int epoch = 1; epoch <= 2; epoch++) {
      rest(iterator);
      iterator.reset();
    }
  }

  private void rest(DataSetIterator iterator) {
    while (iterator.hasNext()) {
      print(iterator.next());
    }
  }

  private void rest(MultiDataSetIterator iterator) {
    while (iterator.hasNext()) {
      MultiDataSet batch = iterator.next();
      for (INDArray[] arrays :
          new INDArray[][] {
            batch.getFeatures(),
            batch.getLabels(),
            batch.getFeaturesMaskArrays(),
            batch.getLabelsMaskArrays()
          }) {
        print(arrays == null ? "none" : arrays.length + " arrays");
        for (int i = 0; arrays != null && i < arrays.length; i++) {
          print("array", arrays[i]);
        }
      }
    }
  }

  private void print(DataSet batch) {
    print("features", batch.getFeatures());
    print("labels", batch.getLabels());
    print("masks", batch.getFeaturesMaskArray());
    print("masks of labels", batch.getLabelsMaskArray());
  }

  private void print(String what, INDArray array) {
    if (array == null) {
      print(what + " none");
      return;
    }
    String shape = array.shapeInfoToString().replaceAll("\\s+", " ");
    print(what + " " + shape + " " + array.dataType() + " " + ArrayBytes.checksum(array));
  }

  private void print(String line) {
    System.out.println(use + ": " + line);
  }
}
