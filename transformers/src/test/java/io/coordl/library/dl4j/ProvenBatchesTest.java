package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.pipeline.SampleVerdict;
import java.io.DataInputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.datavec.api.conf.Configuration;
import org.datavec.api.records.Record;
import org.datavec.api.records.metadata.RecordMetaData;
import org.datavec.api.records.reader.BaseRecordReader;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.impl.collection.CollectionRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.split.FileSplit;
import org.datavec.api.split.InputSplit;
import org.datavec.api.writable.IntWritable;
import org.datavec.api.writable.Writable;
import org.datavec.image.recordreader.ImageRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.factory.Nd4j;

/** Verdicts on whether the batches of an iterator could be cached. */
class ProvenBatchesTest {
  @TempDir Path folder;

  private static SampleVerdict verdict(RecordReader reader) throws Exception {
    return Objects.requireNonNull(
        new ProvenBatches().apply(new RecordReaderDataSetIterator(reader, 2)));
  }

  @Test
  void batchesOfAFileCanBeKept() throws Exception {
    CSVRecordReader reader = new CSVRecordReader();
    reader.initialize(new FileSplit(Files.writeString(folder.resolve("a.csv"), "1,2\n").toFile()));
    SampleVerdict verdict = verdict(reader);
    assertThat(verdict.reason()).isEmpty();
    assertThat(verdict.isKept()).isTrue();
    assertThat(verdict.source()).isEqualTo(RecordReaderDataSetIterator.class.getName());
  }

  @Test
  void recordsInMemoryAreNotKept() throws Exception {
    SampleVerdict verdict =
        verdict(new CollectionRecordReader(List.of(List.of(new IntWritable(1)))));
    assertThat(verdict.isKept()).isFalse();
    assertThat(verdict.reason()).isEqualTo("its records are in memory already");
    assertThat(verdict.vouch()).isEmpty();
  }

  @Test
  void readersOfStreamsAreNotSupported() throws Exception {
    // It has no split, like a reader of streams.
    assertThat(verdict(new ImageRecordReader(8, 8, 3)).reason())
        .isEqualTo("it does not support readers of streams");
  }

  /** An iterator of the program may wrap one whose batches are kept. */
  @Test
  void iteratorsOfTheProgramHaveNoVerdict() throws Exception {
    assertThat(new ProvenBatches().apply(Collections.emptyIterator())).isNull();
  }

  /** An iterator of the program's own class; {@code reset} draws and changes its order. */
  @SuppressWarnings("serial") // Not serialized.
  static class Shuffling implements DataSetIterator {
    private final Random random = new Random(1);
    private final List<Float> values = new ArrayList<>(List.of(1f, 2f, 3f));
    private int at;

    @Override
    public DataSet next(int count) {
      return new DataSet(Nd4j.scalar(values.get(at++)), null);
    }

    @Override
    public DataSet next() {
      return next(1);
    }

    @Override
    public boolean hasNext() {
      return at < values.size();
    }

    @Override
    public void reset() {
      at = 0;
      Collections.shuffle(values, random);
    }

    @Override
    public int inputColumns() {
      return 1;
    }

    @Override
    public int totalOutcomes() {
      return 1;
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
      return 1;
    }

    @Override
    public void setPreProcessor(DataSetPreProcessor preprocessor) {
      throw new UnsupportedOperationException();
    }

    @Override
    public @Nullable DataSetPreProcessor getPreProcessor() {
      return null;
    }

    @Override
    public List<String> getLabels() {
      return List.of();
    }
  }

  /** Uses itself in a lambda. */
  @SuppressWarnings("serial")
  static final class InLambda extends Shuffling {
    private final List<Integer> rows = List.of(1, 2);

    @Override
    public DataSet next(int count) {
      return new DataSet(Nd4j.createFromArray(rows.stream().mapToDouble(this::of).toArray()), null);
    }

    private double of(int row) {
      return 2.0 * row + rows.size();
    }
  }

  /** Passes itself to code that may call any of its methods. */
  @SuppressWarnings("serial")
  static final class Shown extends Shuffling {
    @Override
    public DataSet next(int count) {
      List<Object> all = new ArrayList<>();
      all.add(this);
      return super.next(count + all.size());
    }
  }

  /** Calls the method that draws. */
  @SuppressWarnings("serial")
  static final class Resetting extends Shuffling {
    @Override
    public DataSet next(int count) {
      if (!hasNext()) {
        reset();
      }
      return super.next(count);
    }
  }

  private static String reason(DataSetIterator own) throws Exception {
    SampleVerdict verdict = Objects.requireNonNull(new ProvenBatches().apply(own));
    assertThat(verdict.source()).isEqualTo(own.getClass().getName());
    assertThat(verdict.isKept()).isEqualTo(verdict.reason().isEmpty());
    return verdict.reason();
  }

  /** Only {@code next} must be deterministic: the program itself calls the other methods. */
  @Test
  void anIteratorMayShuffleItsDataWhenItIsReset() throws Exception {
    assertThat(reason(new Shuffling())).isEmpty();
    assertThat(reason(new InLambda())).isEmpty();
    String shuffles = "ProvenBatchesTest$Shuffling.reset uses java.util.Collections.shuffle";
    assertThat(reason(new Resetting())).endsWith(shuffles);
    assertThat(reason(new Shown())).endsWith(shuffles);
  }

  /** Returns a record for each number. */
  @SuppressWarnings("serial")
  static class Numbers extends BaseReader {
    private int at;

    @Override
    public List<Writable> next() {
      return new ArrayList<>(List.of(new IntWritable(at++)));
    }

    @Override
    public Record nextRecord() {
      return new org.datavec.api.records.impl.Record(next(), null);
    }

    @Override
    public boolean hasNext() {
      return at < 10;
    }

    @Override
    public void reset() {
      at = 0;
    }
  }

  /** Reads a field of the library's class, which any code may set. */
  @SuppressWarnings("serial")
  static final class OfSplit extends Numbers {
    @Override
    public List<Writable> next() {
      return List.of(new IntWritable((int) inputSplit.length()));
    }

    @Override
    public Record nextRecord() {
      return super.nextRecord();
    }
  }

  @Test
  void readersOfTheProgramAreProvenThemselves() throws Exception {
    SampleVerdict verdict = verdict(new Numbers());
    assertThat(verdict.reason()).isEmpty();
    assertThat(verdict.source()).isEqualTo(Numbers.class.getName());
    assertThat(verdict(new OfSplit()).reason())
        .contains("reads org.datavec.api.records.reader.BaseRecordReader.inputSplit");
  }

  /** The methods that the test does not need. */
  @SuppressWarnings("serial")
  abstract static class BaseReader extends BaseRecordReader {
    @Override
    public void initialize(Configuration configuration, InputSplit split) {}

    @Override
    public boolean resetSupported() {
      return true;
    }

    @Override
    public List<String> getLabels() {
      return List.of();
    }

    @Override
    public List<Writable> record(URI uri, DataInputStream in) {
      throw new UnsupportedOperationException();
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
}
