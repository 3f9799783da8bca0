package example.loader;

import java.io.File;
import java.io.IOException;
import java.util.Random;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.split.FileSplit;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.nd4j.linalg.dataset.AsyncDataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;

/**
 * The data side of a DL4J job, without training: pictures resized to 224x224, scaled to 0..1, in
 * batches of 32, prefetched as {@code MultiLayerNetwork.fit} does it. Arguments: a folder with one
 * folder of pictures per class; passes.
 */
public final class Dl4jLoader {
  private static final int SIZE = 224;
  private static final int CHANNELS = 3;
  private static final int BATCH = 32;

  private Dl4jLoader() {}

  /** Loads as the arguments say. */
  public static void main(String[] args) throws IOException {
    int epochs = Integer.parseInt(args[1]);
    ImageRecordReader reader =
        new ImageRecordReader(SIZE, SIZE, CHANNELS, new ParentPathLabelGenerator());
    reader.initialize(
        new FileSplit(new File(args[0]), NativeImageLoader.ALLOWED_FORMATS, new Random(1)));
    DataSetIterator pictures =
        new RecordReaderDataSetIterator(reader, BATCH, 1, reader.numLabels());
    pictures.setPreProcessor(new ImagePreProcessingScaler(0, 1));
    EpochLines lines = new EpochLines();
    for (int epoch = 0; epoch < epochs; epoch++) {
      AsyncDataSetIterator ahead = new AsyncDataSetIterator(pictures, 2, true);
      if (!ahead.hasNext() && ahead.resetSupported()) {
        ahead.reset();
      }
      int samples = 0;
      while (ahead.hasNext()) {
        samples += ahead.next().numExamples();
      }
      ahead.shutdown();
      lines.ended(samples);
    }
  }
}
