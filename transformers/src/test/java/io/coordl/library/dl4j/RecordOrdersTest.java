package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.datavec.api.records.reader.impl.csv.CSVSequenceRecordReader;
import org.datavec.api.split.FileSplit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The answer is the same whether batches are kept from the first epoch on or from a later one. */
class RecordOrdersTest {
  private static final int FILES = 20;

  @TempDir Path directory;
  private final ReaderFiles known = new ReaderFiles(new LineIndices());
  private final CSVSequenceRecordReader reader = new CSVSequenceRecordReader();
  private final Object iterator = new Object();
  private FileSplit split;
  private final RecordOrders orders = new RecordOrders();

  private void read(Random random) throws Exception {
    for (int i = 0; i < FILES; i++) {
      Files.writeString(directory.resolve("f_" + i + ".csv"), i + ",1\n");
    }
    split =
        random == null
            ? new FileSplit(directory.toFile())
            : new FileSplit(directory.toFile(), random);
    reader.initialize(split);
  }

  private void reset() throws Exception {
    split.reset(); // As readers of images do.
    reader.reset();
    orders.reset(iterator, List.of(new FileReader(reader, known)));
  }

  private void begin() throws Exception {
    assertThat(orders.knows(iterator)).isFalse();
    orders.reset(iterator, List.of(new FileReader(reader, known)));
    assertThat(orders.knows(iterator)).isTrue();
  }

  private boolean change() throws Exception {
    return orders.change(
        iterator, List.of(Objects.requireNonNull(new FileReader(reader, known).order(0))));
  }

  @Test
  void shuffledFilesAreRefusedFromTheSecondEpochOn() throws Exception {
    read(new Random(1));
    assertThat(change()).isFalse();
    reset();
    assertThat(change()).isTrue();
  }

  @Test
  void shuffledFilesAreRefusedAtOnceInALaterEpoch() throws Exception {
    read(new Random(1));
    for (int epoch = 0; epoch < 3; epoch++) {
      reset();
    }
    assertThat(change()).isTrue();
  }

  /** The policy begins in the second epoch; the first began without a reset. */
  @Test
  void shuffledFilesAreRefusedAtOnceInTheSecondEpoch() throws Exception {
    read(new Random(1));
    begin();
    reset();
    assertThat(change()).isTrue();
  }

  @Test
  void filesInOneOrderAreKept() throws Exception {
    read(null);
    for (int epoch = 0; epoch < 3; epoch++) {
      reset();
      assertThat(change()).isFalse();
    }
  }

  @Test
  void noteOfAResetLeavesTheReaderAsItIs() throws Exception {
    read(new Random(1));
    reset();
    assertThat(new FileReader(reader, known).current()).isNull();
  }
}
