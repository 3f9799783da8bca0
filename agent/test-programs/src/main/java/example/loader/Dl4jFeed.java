package example.loader;

import java.io.File;
import java.io.IOException;
import java.util.Random;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.split.FileSplit;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.datavec.image.transform.CropImageTransform;
import org.datavec.image.transform.FlipImageTransform;
import org.datavec.image.transform.PipelineImageTransform;
import org.datavec.image.transform.ResizeImageTransform;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.nd4j.linalg.dataset.AsyncDataSetIterator;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;

/**
 * A DL4J loop over batches of 64 pictures, prefetched as in {@code MultiLayerNetwork.fit}, whose
 * step waits and uses no core; see {@link Feed}. Arguments: a folder with one folder of pictures
 * per class; epochs; {@code crop} (random crops and flips) or {@code resize}; side of the square;
 * milliseconds per step.
 */
public final class Dl4jFeed {
  private static final int BATCH = 64;
  private static final int CHANNELS = 3;
  private static final int MARGIN = 80;
  private static final int AHEAD = 2;

  private Dl4jFeed() {}

  public static void main(String[] args) throws IOException {
    int epochs = Integer.parseInt(args[1]);
    int size = Integer.parseInt(args[3]);
    Feed feed = new Feed(args[4]);
    ImageRecordReader reader =
        new ImageRecordReader(size, size, CHANNELS, new ParentPathLabelGenerator());
    FileSplit files =
        new FileSplit(new File(args[0]), NativeImageLoader.ALLOWED_FORMATS, new Random(1));
    if (args[2].equals("crop")) {
      reader.initialize(
          files,
          new PipelineImageTransform(
              new CropImageTransform(new Random(2), MARGIN),
              new ResizeImageTransform(size, size),
              new FlipImageTransform(new Random(3))));
    } else {
      reader.initialize(files);
    }
    DataSetIterator data = new RecordReaderDataSetIterator(reader, BATCH, 1, reader.numLabels());
    data.setPreProcessor(new ImagePreProcessingScaler(0, 1));
    for (int epoch = 0; epoch < epochs; epoch++) {
      if (epoch > 0) {
        data.reset();
      }
      AsyncDataSetIterator ahead = new AsyncDataSetIterator(data, AHEAD, true);
      feed.<DataSet>run(ahead, batch -> {});
      ahead.shutdown();
    }
  }
}
