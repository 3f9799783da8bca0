package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.split.FileSplit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Either all readers of an iterator move to a record, or none. */
class SkippedEpochsTest {
  @TempDir Path directory;
  private final List<CSVRecordReader> readers = new ArrayList<>();
  private final List<SeekableReader> seekable = new ArrayList<>();
  private final List<int[]> orders = new ArrayList<>();

  private Path table(String name) throws Exception {
    Path table = Files.writeString(directory.resolve(name), "0\n1\n2\n3\n");
    CSVRecordReader reader = new CSVRecordReader();
    reader.initialize(new FileSplit(table.toFile()));
    LineReader line = new LineReader(reader, new ReaderFiles(new LineIndices()));
    readers.add(reader);
    seekable.add(line);
    orders.add(Objects.requireNonNull(line.order(0)));
    return table;
  }

  private static String record(CSVRecordReader reader) {
    return reader.next().get(0).toString();
  }

  @Test
  void allReadersContinueAtTheSameRecord() throws Exception {
    table("features");
    table("labels");
    assertThat(SkippedEpochs.place(seekable, orders, 2)).isTrue();
    assertThat(readers).extracting(SkippedEpochsTest::record).containsExactly("2", "2");
  }

  @Test
  void noReaderMovesIfAFileHasChanged() throws Exception {
    table("features");
    Path labels = table("labels");
    Files.writeString(labels, "0\n1\n2\n3\n4\n");
    assertThat(SkippedEpochs.place(seekable, orders, 2)).isFalse();
    assertThat(readers).extracting(SkippedEpochsTest::record).containsExactly("0", "0");
  }
}
