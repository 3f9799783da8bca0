package example.prefetch;

import example.bits.ArrayBytes;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.split.FileSplit;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.datavec.image.transform.FlipImageTransform;
import org.datavec.image.transform.ImageTransform;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.nd4j.linalg.dataset.AsyncDataSetIterator;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;

/**
 * Epochs over pictures, without a network. Arguments: {@code PROGRAM FOLDER}. Prints a line per
 * batch.
 */
public final class Dl4jLoops {
  private static final int BATCH = 8;
  private static final int EPOCHS = 3;
  private static final int SIZE = 32;

  private Dl4jLoops() {}

  /** Runs one program. */
  public static void main(String[] args) throws IOException {
    File folder = new File(args[1]);
    switch (args[0]) {
      case "plain" -> loop(data(folder, null), Integer.MAX_VALUE);
      case "break" -> loop(data(folder, null), 3);
      case "flip" -> loop(data(folder, new FlipImageTransform(new Random(7))), 4);
      case "async" -> async(data(folder, null));
      case "exception" -> exception(folder);
      default -> throw new IllegalArgumentException(args[0] + " is not a program of this class.");
    }
  }

  private static ImageRecordReader reader(File folder, ImageTransform transform)
      throws IOException {
    ImageRecordReader reader =
        new ImageRecordReader(SIZE, SIZE, 3, new ParentPathLabelGenerator(), transform);
    reader.initialize(new FileSplit(folder, NativeImageLoader.ALLOWED_FORMATS, new Random(1)));
    return reader;
  }

  private static DataSetIterator data(File folder, ImageTransform transform) throws IOException {
    ImageRecordReader reader = reader(folder, transform);
    return new RecordReaderDataSetIterator(reader, BATCH, 1, reader.numLabels());
  }

  private static void loop(DataSetIterator data, int limit) {
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      for (int batch = 0; batch < limit && data.hasNext(); batch++) {
        print(data.next());
      }
      data.reset();
    }
  }

  /** A reset interrupts the iterator's own thread during a batch. */
  private static void async(DataSetIterator data) {
    AsyncDataSetIterator async = new AsyncDataSetIterator(data, 2, false);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      for (int batch = 0; batch < 4 * epoch && async.hasNext(); batch++) {
        print(async.next());
      }
      if (epoch < EPOCHS) {
        async.reset();
      }
    }
    async.shutdown();
  }

  /** A file is missing when its turn comes; the program continues with the next batch. */
  private static void exception(File folder) throws IOException {
    DataSetIterator data = data(folder, null);
    Path gone;
    try (Stream<Path> tree = Files.walk(folder.toPath())) {
      gone = tree.filter(Files::isRegularFile).sorted().findFirst().orElseThrow();
    }
    Path aside = gone.resolveSibling("aside");
    Files.move(gone, aside);
    try {
      for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        while (data.hasNext()) {
          try {
            print(data.next());
          } catch (RuntimeException e) {
            System.out.println("failed " + e.getMessage());
          }
        }
        data.reset();
      }
    } finally {
      Files.move(aside, gone);
    }
  }

  private static void print(DataSet batch) {
    System.out.println(
        "batch "
            + ArrayBytes.checksum(batch.getFeatures())
            + " "
            + ArrayBytes.checksum(batch.getLabels()));
  }
}
