package example.loader;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.split.FileSplit;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.nd4j.linalg.dataset.AsyncDataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;

/**
 * The data pipeline of a DL4J job, without training: pictures resized to 224x224, scaled to 0..1,
 * in batches of 32, or the rows of a table, prefetched as in {@code MultiLayerNetwork.fit}.
 * Arguments: a folder with one folder of pictures per class, or a .csv file with a header whose
 * last column is the label; epochs.
 */
public final class Dl4jLoader {
  private static final int SIZE = 224;
  private static final int CHANNELS = 3;
  private static final int BATCH = 32;

  private Dl4jLoader() {}

  public static void main(String[] args) throws IOException {
    int epochs = Integer.parseInt(args[1]);
    DataSetIterator data = args[0].endsWith(".csv") ? table(args[0]) : pictures(args[0]);
    EpochLines lines = new EpochLines();
    for (int epoch = 0; epoch < epochs; epoch++) {
      AsyncDataSetIterator ahead = new AsyncDataSetIterator(data, 2, true);
      if (!ahead.hasNext() && ahead.resetSupported()) {
        ahead.reset();
      }
      int samples = 0;
      while (ahead.hasNext()) {
        samples += ahead.next().numExamples();
      }
      ahead.shutdown();
      lines.endEpoch(samples);
    }
  }

  private static DataSetIterator table(String file) throws IOException {
    CSVRecordReader reader = new CSVRecordReader(1, ',');
    try {
      reader.initialize(new FileSplit(new File(file)));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    int columns;
    try (Stream<String> lines = Files.lines(Path.of(file))) {
      columns = lines.findFirst().orElseThrow().split(",", -1).length;
    }
    return new RecordReaderDataSetIterator(reader, BATCH, columns - 1, columns - 1, true);
  }

  private static DataSetIterator pictures(String folder) throws IOException {
    ImageRecordReader reader =
        new ImageRecordReader(SIZE, SIZE, CHANNELS, new ParentPathLabelGenerator());
    reader.initialize(
        new FileSplit(new File(folder), NativeImageLoader.ALLOWED_FORMATS, new Random(1)));
    DataSetIterator pictures =
        new RecordReaderDataSetIterator(reader, BATCH, 1, reader.numLabels());
    pictures.setPreProcessor(new ImagePreProcessingScaler(0, 1));
    return pictures;
  }
}
