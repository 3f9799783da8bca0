package example.reads;

import example.bits.ArrayBytes;
import example.bits.Checksum;
import java.io.File;
import java.io.IOException;
import java.util.Locale;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.split.FileSplit;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;

/**
 * Reads a folder of CSV files of numbers with DL4J; the last number in each line is the class.
 * Arguments: {@code FOLDER CLASSES EPOCHS}; prints a line per batch: {@code batch EPOCH NUMBER
 * CRC32}.
 */
public final class UserRecords {
  private static final int BATCH = 8;

  private UserRecords() {}

  /** Runs the program; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    File folder = new File(args[0]);
    int classes = Integer.parseInt(args[1]);
    int epochs = Integer.parseInt(args[2]);
    CSVRecordReader reader = new CSVRecordReader();
    reader.initialize(new FileSplit(folder, new String[] {"csv"}));
    // The class is in the last column.
    DataSetIterator data =
        new RecordReaderDataSetIterator.Builder(reader, BATCH)
            .classification(columns(folder) - 1, classes)
            .build();
    for (int epoch = 1; epoch <= epochs; epoch++) {
      int number = 0;
      while (data.hasNext()) {
        DataSet batch = data.next();
        number++;
        Checksum sum = ArrayBytes.add(new Checksum(), batch.getFeatures());
        ArrayBytes.add(sum, batch.getLabels());
        System.out.printf(Locale.ROOT, "batch %d %d %s%n", epoch, number, sum);
      }
      data.reset();
    }
  }

  private static int columns(File folder) throws IOException, InterruptedException {
    try (CSVRecordReader reader = new CSVRecordReader()) {
      reader.initialize(new FileSplit(folder, new String[] {"csv"}));
      return reader.next().size();
    }
  }
}
