package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.pipeline.SampleVerdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.impl.collection.CollectionRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.split.FileSplit;
import org.datavec.api.writable.IntWritable;
import org.datavec.image.recordreader.ImageRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
}
