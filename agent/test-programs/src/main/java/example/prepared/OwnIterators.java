package example.prepared;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.MultiDataSet;
import org.nd4j.linalg.dataset.api.MultiDataSetPreProcessor;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator;
import org.nd4j.linalg.factory.Nd4j;

/** Custom iterators; some return the same batches in each epoch, others only seem to. */
@SuppressWarnings("serial") // None is serialized.
final class OwnIterators {
  /** A factor that the loop changes. */
  static float level = 1;

  private OwnIterators() {}

  static DataSetIterator of(String kind, Path table, Knobs knobs) {
    return switch (kind) {
      case "own", "own-early", "own-scaled", "own-rewritten", "own-seek" -> new Rows(table);
      case "own-doubled" -> new Doubled(table);
      case "own-totals" -> new OfTotals(table, false);
      case "own-total" -> new OfTotals(table, true);
      case "own-static" -> new OfStatic(table);
      case "own-knobs" -> new OfKnobs(table, knobs);
      case "own-field" -> new OfField(table);
      case "own-counter" -> new OfCounter(table);
      case "own-time" -> new OfTime(table);
      case "own-thread" -> new OfThread(table);
      case "own-property" -> new OfProperty(table);
      case "own-lambda" -> new OfLambda(table, () -> knobs.level);
      case "own-way", "own-same-way" -> new OfWay(table);
      case "own-random" -> new OfRandom(table);
      case "own-last" -> new OfLast(table);
      case "own-array" -> new OfArray(table);
      case "own-nested" -> new OfNested(table);
      case "own-null" -> new OfNothing(table);
      case "own-class" -> new OfClass(table);
      case "own-order" -> new OfOrder(table, knobs.level > 4);
      case "own-zip" -> new Rows(table);
      case "own-stream" -> new OfStream(table);
      case "own-device" -> new OfDevice(table);
      case "own-cached" -> new OfCache(table);
      case "own-held" -> new OfHeld(table);
      case "own-ordered" -> new OfShuffled(table, false);
      case "own-shuffled" -> new OfShuffled(table, true);
      default -> Queues.of(kind, table);
    };
  }

  /** Settings outside the iterator, which the loop changes. */
  static final class Knobs {
    float level = 1;
  }

  /** A part that the loop replaces. */
  interface Way {
    float of(float value);
  }

  /** Reads the file again for each batch. */
  static class Rows implements DataSetIterator {
    private final Path table;
    private int row;
    private boolean over;
    private DataSetPreProcessor preprocessor;

    Rows(Path table) {
      this.table = table;
    }

    float of(float value) {
      return value;
    }

    BufferedReader open() throws IOException {
      return Files.newBufferedReader(table);
    }

    /** Continues at a different row. */
    void seek(int place) {
      row = place;
    }

    @Override
    public DataSet next(int count) {
      float[][] features = new float[count][8];
      float[][] labels = new float[count][2];
      try (BufferedReader in = open()) {
        for (int skipped = 0; skipped < row; skipped++) {
          in.readLine();
        }
        for (int i = 0; i < count; i++) {
          String[] columns = in.readLine().split(",", -1);
          for (int k = 0; k < 8; k++) {
            features[i][k] = of(Float.parseFloat(columns[k]));
          }
          labels[i][Integer.parseInt(columns[columns.length - 1])] = 1;
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      row += count;
      over = row >= 96;
      DataSet batch = new DataSet(Nd4j.create(features), Nd4j.create(labels));
      if (preprocessor != null) {
        preprocessor.preProcess(batch);
      }
      return batch;
    }

    @Override
    public DataSet next() {
      return next(32);
    }

    @Override
    public boolean hasNext() {
      return !over;
    }

    @Override
    public void reset() {
      row = 0;
      over = false;
    }

    @Override
    public int inputColumns() {
      return 8;
    }

    @Override
    public int totalOutcomes() {
      return 2;
    }

    @Override
    public boolean resetSupported() {
      return true;
    }

    @Override
    public boolean asyncSupported() {
      return true;
    }

    @Override
    public int batch() {
      return 32;
    }

    @Override
    public void setPreProcessor(DataSetPreProcessor given) {
      preprocessor = given;
    }

    @Override
    public DataSetPreProcessor getPreProcessor() {
      return preprocessor;
    }

    @Override
    public List<String> getLabels() {
      return List.of("no", "yes");
    }
  }

  /** Batches with two arrays of features. */
  static final class Several implements MultiDataSetIterator {
    private final Path table;
    private int row;
    private MultiDataSetPreProcessor preprocessor;

    Several(Path table) {
      this.table = table;
    }

    @Override
    public MultiDataSet next(int count) {
      float[][] features = new float[count][8];
      float[][] labels = new float[count][1];
      try {
        List<String> lines = Files.readAllLines(table);
        for (int i = 0; i < count; i++) {
          String[] columns = lines.get(row + i).split(",", -1);
          for (int k = 0; k < 8; k++) {
            features[i][k] = Float.parseFloat(columns[k]);
          }
          labels[i][0] = Float.parseFloat(columns[columns.length - 1]);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      row += count;
      INDArray array = Nd4j.create(features);
      MultiDataSet batch =
          new org.nd4j.linalg.dataset.MultiDataSet(
              new INDArray[] {array, array.mul(2)}, new INDArray[] {Nd4j.create(labels)});
      if (preprocessor != null) {
        preprocessor.preProcess(batch);
      }
      return batch;
    }

    @Override
    public MultiDataSet next() {
      return next(32);
    }

    @Override
    public boolean hasNext() {
      return row < 96;
    }

    @Override
    public void reset() {
      row = 0;
    }

    @Override
    public boolean resetSupported() {
      return true;
    }

    @Override
    public boolean asyncSupported() {
      return true;
    }

    @Override
    public void setPreProcessor(MultiDataSetPreProcessor given) {
      preprocessor = given;
    }

    @Override
    public MultiDataSetPreProcessor getPreProcessor() {
      return preprocessor;
    }
  }

  /** Doubles the inherited batches. */
  static final class Doubled extends Rows {
    Doubled(Path table) {
      super(table);
    }

    @Override
    public DataSet next(int count) {
      DataSet batch = super.next(count);
      batch.getFeatures().muli(2);
      return batch;
    }
  }

  /** A sum of several values. */
  static final class Total {
    final List<Float> values = new ArrayList<>();
    float sum;

    void add(float value) {
      values.add(value);
      sum += value;
    }
  }

  /** Sums each value in a new total, or all in the same one. */
  static final class OfTotals extends Rows {
    private final boolean same;
    private Total last;

    OfTotals(Path table, boolean same) {
      super(table);
      this.same = same;
    }

    @Override
    float of(float value) {
      Total total = new Total();
      if (same && last != null) {
        total = last;
      } else if (same) {
        last = total;
      }
      total.add(value);
      total.add(1);
      return total.sum + total.values.size();
    }
  }

  static final class OfStatic extends Rows {
    OfStatic(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      return value * level;
    }
  }

  static final class OfKnobs extends Rows {
    private final Knobs knobs;

    OfKnobs(Path table, Knobs knobs) {
      super(table);
      this.knobs = knobs;
    }

    @Override
    float of(float value) {
      return value * knobs.level;
    }
  }

  /** Has a field that another object sets between batches. */
  static final class OfField extends Rows {
    float level = 1;

    OfField(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      return value * level;
    }
  }

  static final class OfCounter extends Rows {
    private long calls;

    OfCounter(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      calls++;
      return value + calls;
    }
  }

  static final class OfTime extends Rows {
    OfTime(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      return System.nanoTime() > 0 ? value * level : 0;
    }
  }

  static final class OfThread extends Rows {
    OfThread(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      return value + Thread.currentThread().getName().length();
    }
  }

  static final class OfProperty extends Rows {
    OfProperty(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      return value * Float.parseFloat(System.getProperty("level", "1"));
    }
  }

  static final class OfLambda extends Rows {
    private final Supplier<Float> level;

    OfLambda(Path table, Supplier<Float> level) {
      super(table);
      this.level = level;
    }

    @Override
    float of(float value) {
      return value * level.get();
    }
  }

  /** Has a part that the loop replaces between batches. */
  static final class OfWay extends Rows {
    Way way = new Plus(1);

    OfWay(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      return way.of(value);
    }
  }

  record Plus(float more) implements Way {
    @Override
    public float of(float value) {
      return value + more;
    }
  }

  static final class OfRandom extends Rows {
    private final Random random = new Random(3);

    OfRandom(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      return value + random.nextFloat();
    }
  }

  /** Except for the first, each batch depends on the previous one. */
  static final class OfLast extends Rows {
    private String last = "";

    OfLast(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      return value + last.length();
    }

    @Override
    public DataSet next(int count) {
      DataSet batch = super.next(count);
      last = "some";
      return batch;
    }

    @Override
    public void reset() {
      super.reset();
      last = "";
    }
  }

  static final class OfArray extends Rows {
    private final float[] sum = new float[1];

    OfArray(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      sum[0] += 1;
      return value + sum[0];
    }
  }

  /** Has an inner iterator with its own position. */
  static final class OfNested extends Rows {
    private final Rows inner;

    OfNested(Path table) {
      super(table);
      inner = new Rows(table);
    }

    @Override
    public DataSet next(int count) {
      if (!inner.hasNext()) {
        inner.reset();
      }
      DataSet batch = super.next(count);
      batch.getFeatures().addi(inner.next(32).getFeatures());
      return batch;
    }
  }

  /** Every second call returns no batch. */
  static final class OfNothing extends Rows {
    private boolean some;

    OfNothing(Path table) {
      super(table);
    }

    @Override
    public DataSet next(int count) {
      DataSet batch = super.next(count);
      some = !some;
      return some ? batch : null;
    }
  }

  static final class Batch extends DataSet {
    Batch(DataSet of) {
      super(of.getFeatures(), of.getLabels());
    }
  }

  static final class OfClass extends Rows {
    OfClass(Path table) {
      super(table);
    }

    @Override
    public DataSet next(int count) {
      return new Batch(super.next(count));
    }
  }

  /** Depends on the order of a map's entries. */
  static final class OfOrder extends Rows {
    private final Map<String, Float> steps = new LinkedHashMap<>();

    OfOrder(Path table, boolean isReversed) {
      super(table);
      steps.put(isReversed ? "b" : "a", isReversed ? 3f : 2f);
      steps.put(isReversed ? "a" : "b", isReversed ? 2f : 3f);
    }

    @Override
    float of(float value) {
      float now = value;
      for (float step : steps.values()) {
        now = now * step + 1;
      }
      return now;
    }
  }

  /** Opens its file through {@code super}, not through {@code new FileInputStream}. */
  static final class Stream extends FileInputStream {
    Stream(String path) throws IOException {
      super(path);
    }
  }

  static final class OfStream extends Rows {
    private final String file;

    OfStream(Path table) {
      super(table);
      file = table.toString();
    }

    @Override
    BufferedReader open() throws IOException {
      return new BufferedReader(new InputStreamReader(new Stream(file), StandardCharsets.UTF_8));
    }
  }

  /** Reads a device. */
  static final class OfDevice extends Rows {
    OfDevice(Path table) {
      super(table);
    }

    @Override
    public DataSet next(int count) {
      DataSet batch = super.next(count);
      try (InputStream in = new FileInputStream("/dev/urandom")) {
        float factor = 1;
        for (int i = 0; i < 8; i++) {
          factor = factor * 256 + in.read();
        }
        batch.getFeatures().muli(factor);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return batch;
    }
  }

  /** Has its own constant array. */
  static final class OfCache extends Rows {
    private final float[] weights = {1, 2, 3};

    OfCache(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      return value * weights[1];
    }
  }

  /** Returns batches that it keeps, and that the loop changes. */
  static final class OfHeld extends Rows {
    private final List<DataSet> batches = new ArrayList<>();
    private int at;

    OfHeld(Path table) {
      super(table);
      Rows all = new Rows(table);
      while (all.hasNext()) {
        batches.add(all.next());
      }
    }

    @Override
    public DataSet next(int count) {
      return batches.get(at++);
    }

    @Override
    public boolean hasNext() {
      return at < batches.size();
    }

    @Override
    public void reset() {
      at = 0;
    }
  }

  /** Returns its rows in a shuffled order, which {@code reset} may change. */
  static final class OfShuffled extends Rows {
    private final Path file;
    private final boolean shuffles;
    private final Random random = new Random(11);
    private final List<Integer> order = new ArrayList<>();
    private int at;

    OfShuffled(Path table, boolean shuffles) {
      super(table);
      this.file = table;
      this.shuffles = shuffles;
      for (int row = 0; row < 96; row++) {
        order.add(row);
      }
      Collections.shuffle(order, random);
    }

    @Override
    public DataSet next(int count) {
      float[] features = new float[count * 8];
      try {
        List<String> lines = Files.readAllLines(file);
        for (int i = 0; i < count; i++) {
          String[] columns = lines.get(order.get(at++)).split(",", -1);
          for (int k = 0; k < 8; k++) {
            features[8 * i + k] = Float.parseFloat(columns[k]);
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      INDArray array = Nd4j.create(features, new int[] {count, 8});
      return new DataSet(array, array.sum(1));
    }

    @Override
    public boolean hasNext() {
      return at < order.size();
    }

    @Override
    public void reset() {
      at = 0;
      if (shuffles) {
        Collections.shuffle(order, random);
      }
    }
  }
}
