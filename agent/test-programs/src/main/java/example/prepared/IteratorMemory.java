package example.prepared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.deeplearning4j.datasets.iterator.ExistingDataSetIterator;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.AsyncDataSetIterator;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Iterates over batches that DL4J prefetches, as in {@code fit}; the batch size varies by epoch.
 * The arrays are created uninitialised, so they show what the iterator's workspace contained.
 * Prints the page faults of each epoch on standard error.
 */
public final class IteratorMemory {
  private static final int BATCHES = 8;
  private static final int PIXELS = 3 * 224 * 224;

  private IteratorMemory() {}

  public static void main(String[] args) throws IOException {
    for (int size : new int[] {64, 64, 64, 64, 32, 32, 64, 1, 64, 64}) {
      long before = faults();
      epoch(size);
      System.err.println("faults of an epoch: " + (faults() - before));
    }
  }

  private static void epoch(int size) {
    Iterator<DataSet> batches =
        new Iterator<>() {
          private int next;

          @Override
          public boolean hasNext() {
            return next < BATCHES;
          }

          @Override
          public DataSet next() {
            return batch(size, next++); // DL4J has entered the iterator's workspace.
          }
        };
    AsyncDataSetIterator ahead =
        new AsyncDataSetIterator(new ExistingDataSetIterator(batches), 2, true);
    double sum = 0;
    while (ahead.hasNext()) {
      sum += ahead.next().getFeatures().meanNumber().doubleValue();
    }
    ahead.shutdown();
    System.out.println("size " + size + ": " + sum);
  }

  private static DataSet batch(int size, int number) {
    INDArray pixels = Nd4j.createUninitialized(DataType.FLOAT, size, PIXELS);
    // The first batch is not in the workspace; the fifth and later ones reuse its memory.
    if (List.of(1, 2, 3).contains(number)) {
      System.out.println(
          "batch " + number + " of zeros: " + (pixels.amaxNumber().floatValue() == 0));
    }
    pixels.assign(size + number);
    return new DataSet(pixels, Nd4j.ones(DataType.FLOAT, size, 2));
  }

  /** Returns the minor page faults of the process. */
  private static long faults() throws IOException {
    String stat = Files.readString(Path.of("/proc/self/stat"));
    return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[7]);
  }
}
