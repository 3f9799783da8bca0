package example.prepared;

import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.datavec.api.conf.Configuration;
import org.datavec.api.records.Record;
import org.datavec.api.records.SequenceRecord;
import org.datavec.api.records.metadata.RecordMetaData;
import org.datavec.api.records.reader.BaseRecordReader;
import org.datavec.api.records.reader.SequenceRecordReader;
import org.datavec.api.split.InputSplit;
import org.datavec.api.writable.DoubleWritable;
import org.datavec.api.writable.FloatWritable;
import org.datavec.api.writable.IntWritable;
import org.datavec.api.writable.NDArrayWritable;
import org.datavec.api.writable.Text;
import org.datavec.api.writable.Writable;
import org.nd4j.linalg.factory.Nd4j;

/** Custom record readers; some return the same records in each epoch, others only seem to. */
@SuppressWarnings("serial") // None is serialized.
final class OwnReaders {
  private OwnReaders() {}

  static Rows of(String kind) {
    return switch (kind) {
      case "reader", "reader-filtered" -> new Rows();
      case "reader-shuffled" -> new Shuffled();
      case "reader-draws" -> new Draws();
      case "reader-counts" -> new Counts();
      case "reader-reuses" -> new Reuses();
      case "reader-arrays" -> new Vectors();
      case "reader-overrides" -> new Overrides();
      case "reader-sequences" -> new Sequences();
      default -> throw new IllegalArgumentException(kind + " is not a reader of this class.");
    };
  }

  /** A record for each row of a file: a number, a float, a word and a class. */
  static class Rows extends BaseRecordReader {
    private List<File> files = List.of();
    int row;

    @Override
    public void initialize(InputSplit split) throws IOException, InterruptedException {
      super.initialize(split);
      files = new ArrayList<>();
      for (URI location : split.locations()) {
        files.add(new File(location));
      }
      Collections.sort(files);
    }

    @Override
    public void initialize(Configuration configuration, InputSplit split)
        throws IOException, InterruptedException {
      initialize(split);
    }

    String[] columns(int number) {
      try {
        return Files.readAllLines(files.get(0).toPath()).get(number).split(",", -1);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    int rows() {
      return 96;
    }

    @Override
    public boolean hasNext() {
      return row < rows();
    }

    @Override
    public List<Writable> next() {
      return make();
    }

    List<Writable> make() {
      return record(columns(row++));
    }

    List<Writable> record(String[] columns) {
      List<Writable> record = new ArrayList<>();
      record.add(new DoubleWritable(Double.parseDouble(columns[0])));
      record.add(new FloatWritable(Float.parseFloat(columns[1])));
      record.add(new Text(columns[2].startsWith("-") ? "minus" : "plus"));
      record.add(new IntWritable(Integer.parseInt(columns[columns.length - 1])));
      return record;
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
    public List<String> getLabels() {
      return List.of("no", "yes");
    }

    @Override
    public List<Writable> record(URI uri, DataInputStream in) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Record nextRecord() {
      return new org.datavec.api.records.impl.Record(next(), null);
    }

    @Override
    public Record loadFromMetaData(RecordMetaData metadata) {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<Record> loadFromMetaData(List<RecordMetaData> metadata) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}

    @Override
    public void setConf(Configuration configuration) {}

    @Override
    public Configuration getConf() {
      return new Configuration();
    }
  }

  /** Shuffles its rows in each {@code reset}. */
  static final class Shuffled extends Rows {
    private final Random random = new Random(4);
    private final List<Integer> order = new ArrayList<>();

    @Override
    List<Writable> make() {
      return record(columns(order.isEmpty() ? row++ : order.get(row++)));
    }

    @Override
    public void reset() {
      super.reset();
      for (int number = order.size(); number < rows(); number++) {
        order.add(number);
      }
      Collections.shuffle(order, random);
    }
  }

  static final class Draws extends Rows {
    private final Random random = new Random(4);

    @Override
    List<Writable> make() {
      List<Writable> record = super.make();
      record.set(0, new DoubleWritable(random.nextDouble()));
      return record;
    }
  }

  /** Never resets its count. */
  static final class Counts extends Rows {
    private int count;

    @Override
    List<Writable> make() {
      List<Writable> record = super.make();
      record.set(0, new DoubleWritable(count++));
      return record;
    }
  }

  /** Returns the same object in each record, with a new value. */
  static final class Reuses extends Rows {
    private final DoubleWritable sum = new DoubleWritable(0);

    @Override
    List<Writable> make() {
      List<Writable> record = super.make();
      sum.set(sum.get() + record.get(0).toDouble());
      record.set(0, sum);
      return record;
    }
  }

  /** Returns records that contain an array. */
  static final class Vectors extends Rows {
    @Override
    List<Writable> record(String[] columns) {
      float[] values = new float[8];
      for (int i = 0; i < values.length; i++) {
        values[i] = Float.parseFloat(columns[i]);
      }
      return Arrays.asList(
          new NDArrayWritable(Nd4j.create(values, new int[] {1, 8}, 'c')),
          new IntWritable(Integer.parseInt(columns[columns.length - 1])));
    }
  }

  /** Overrides {@code next}, but not {@code nextRecord}. */
  static final class Overrides extends Rows {
    @Override
    public List<Writable> next() {
      return super.next();
    }
  }

  /** Returns sequences that repeat one row one to three times. */
  static final class Sequences extends Rows implements SequenceRecordReader {
    @Override
    public List<List<Writable>> sequenceRecord() {
      List<List<Writable>> sequence = new ArrayList<>();
      for (int length = 1 + row % 3; length > 0; length--) {
        List<Writable> record = record(columns(row));
        record.remove(2);
        sequence.add(record);
      }
      row++;
      return sequence;
    }

    @Override
    public List<List<Writable>> sequenceRecord(URI uri, DataInputStream in) {
      throw new UnsupportedOperationException();
    }

    @Override
    public SequenceRecord nextSequence() {
      return new org.datavec.api.records.impl.SequenceRecord(sequenceRecord(), null);
    }

    @Override
    public SequenceRecord loadSequenceFromMetaData(RecordMetaData metadata) {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<SequenceRecord> loadSequenceFromMetaData(List<RecordMetaData> metadata) {
      throw new UnsupportedOperationException();
    }
  }
}
