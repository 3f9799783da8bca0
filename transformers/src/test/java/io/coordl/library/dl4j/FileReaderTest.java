package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.coordl.pipeline.CannotShareException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.datavec.api.records.reader.impl.FileRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVSequenceRecordReader;
import org.datavec.api.split.FileSplit;
import org.datavec.api.split.InputSplit;
import org.datavec.api.split.NumberedFileInputSplit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Numbered files are listed once; the files of other splits are listed in each epoch. */
class FileReaderTest {
  private static final int FILES = 4;

  @TempDir Path directory;
  private final ReaderFiles known = new ReaderFiles(new LineIndices());
  private final CSVSequenceRecordReader reader = new CSVSequenceRecordReader();

  @BeforeEach
  void write() throws Exception {
    for (int i = 0; i < FILES; i++) {
      Files.writeString(directory.resolve("f_" + i + ".csv"), i + ",1\n");
    }
    reader.initialize(numbered(0));
  }

  private NumberedFileInputSplit numbered(int from) {
    return new NumberedFileInputSplit(directory + "/f_%d.csv", from, FILES - 1);
  }

  private int[] order() throws CannotShareException {
    return new FileReader(reader, known).order(0);
  }

  /** Returns the files that the library would read now. */
  private List<URI> left() {
    List<URI> left = new ArrayList<>();
    ((Iterator<?>) SeekableReader.field(FileRecordReader.class, "locationsIterator").get(reader))
        .forEachRemaining(uri -> left.add((URI) uri));
    return left;
  }

  @Test
  void nextEpochOfNumberedFilesReusesThem() throws Exception {
    assertThat(order()).containsExactly(0, 1, 2, 3);
    List<URI> first = left();
    assertThat(first).hasSize(FILES).first().asString().endsWith("f_0.csv");
    reader.reset();
    assertThat(order()).containsExactly(0, 1, 2, 3);
    List<URI> second = left();
    for (int i = 0; i < FILES; i++) {
      assertThat(second.get(i)).isSameAs(first.get(i)); // Not created again.
    }
  }

  @Test
  void epochAlreadyBegunHasNoOrder() throws Exception {
    assertThat(order()).isNotNull();
    reader.reset();
    reader.sequenceRecord();
    assertThat(order()).isNull();
    assertThat(left()).hasSize(FILES - 1).first().asString().endsWith("f_1.csv");
  }

  @Test
  void newSplitHasNewFiles() throws Exception {
    assertThat(order()).hasSize(FILES);
    reader.initialize(numbered(2));
    assertThat(order()).containsExactly(0, 1);
    assertThat(left()).hasSize(2).first().asString().endsWith("f_2.csv");
  }

  @Test
  void iteratorOfTheProgramIsCalledInEachEpoch() throws Exception {
    List<URI> files = new ArrayList<>(List.of(numbered(0).locations()));
    InputSplit own =
        new NumberedFileInputSplit(directory + "/f_%d.csv", 0, FILES - 1) {
          @Override
          public Iterator<URI> locationsIterator() {
            return files.iterator();
          }
        };
    reader.initialize(own);
    assertThat(order()).containsExactly(0, 1, 2, 3);
    Collections.reverse(files);
    reader.reset();
    assertThat(order()).containsExactly(3, 2, 1, 0);
  }

  @Test
  void readingBeyondTheLastFileThrowsTheLibrarysException() throws Exception {
    FileSplit files = new FileSplit(directory.toFile());
    CSVSequenceRecordReader plain = new CSVSequenceRecordReader();
    plain.initialize(files);
    reader.initialize(files);
    FileReader seekable = new FileReader(reader, known);
    assertThat(seekable.begin(Objects.requireNonNull(seekable.order(0)), null)).isTrue();
    for (int i = 0; i < FILES; i++) {
      assertThat(reader.sequenceRecord()).isEqualTo(plain.sequenceRecord());
    }
    Throwable expected = catchThrowable(plain::sequenceRecord);
    assertThat(expected.getMessage()).isNotEmpty();
    assertThatThrownBy(reader::sequenceRecord)
        .hasSameClassAs(expected)
        .hasMessage(expected.getMessage());
  }
}
