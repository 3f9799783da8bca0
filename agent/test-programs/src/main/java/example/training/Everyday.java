package example.training;

import ai.djl.basicdataset.tabular.utils.Feature;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.util.Progress;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** Data sets as users would write them in a first attempt. */
abstract class Everyday extends RandomAccessDataset {
  /** Number of values per sample. */
  static final int SIZE = 256;

  Everyday(BaseBuilder<?> builder) {
    super(builder);
  }

  abstract float[] features(int index);

  @Override
  public Record get(NDManager manager, long index) {
    return new Record(
        new NDList(manager.create(features(Math.toIntExact(index)))),
        new NDList(manager.create((float) (index % 2))));
  }

  @Override
  public void prepare(Progress progress) {
    // Nothing to do.
  }

  /** Rows of a table; the features count groups of letters in a row's words. */
  static final class Rows extends Everyday {
    private static final int LONGEST = 5;
    private final List<CSVRecord> rows;

    Rows(BaseBuilder<?> builder, Path file) throws IOException {
      super(builder);
      try (Reader in = Files.newBufferedReader(file);
          CSVParser parser = CSVFormat.DEFAULT.parse(in)) {
        rows = parser.getRecords();
      }
    }

    @Override
    float[] features(int index) {
      CSVRecord row = rows.get(index);
      float[] counts = new float[SIZE];
      for (int column = 0; column < row.size() - 1; column++) {
        String word = row.get(column);
        for (int length = 1; length <= LONGEST; length++) {
          for (int from = 0; from + length <= word.length(); from++) {
            int hash = 0;
            for (int i = from; i < from + length; i++) {
              hash = 31 * hash + word.charAt(i);
            }
            counts[Math.floorMod(hash, SIZE)] += 0.01f;
          }
        }
      }
      return counts;
    }

    @Override
    protected long availableSize() {
      return rows.size();
    }
  }

  /** Windows of a series of numbers, with settings in non-final fields. */
  static final class Series extends Everyday {
    List<Feature> columns = new ArrayList<>();
    int window = SIZE;
    private final float[] prices;
    private final int count;

    Series(BaseBuilder<?> builder, int count) {
      super(builder);
      this.count = count;
      prices = new float[count + SIZE];
      for (int day = 0; day < prices.length; day++) {
        prices[day] = (float) (Math.sin(day * 0.1) + Math.sin(day * 0.003));
      }
      columns.add(new Feature("price", true));
      columns.add(new Feature("trend", true));
    }

    @Override
    float[] features(int index) {
      float[] means = new float[SIZE];
      for (int i = 0; i < window; i++) {
        float sum = 0;
        for (int day = 0; day <= i; day++) {
          sum += prices[index + day] * columns.get(day % columns.size()).getName().length();
        }
        means[i] = sum / (i + 1);
      }
      return means;
    }

    @Override
    protected long availableSize() {
      return count;
    }
  }
}
