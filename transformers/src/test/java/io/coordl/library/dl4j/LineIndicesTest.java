package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file is indexed once, unless it changes or the heap runs low. */
class LineIndicesTest {
  @TempDir Path directory;
  private final LineIndices indices = new LineIndices();
  private final AtomicInteger reads = new AtomicInteger();
  private Path file;

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(directory.resolve("rows.csv"), "a\nb\n");
  }

  private int lines() {
    return indices.of(file.toUri(), this::open).lines();
  }

  private InputStream open(URI uri) {
    reads.incrementAndGet();
    try {
      return new ByteArrayInputStream(Files.readAllBytes(Path.of(uri)));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void changedFileIsReadAgain() throws IOException {
    assertThat(lines()).isEqualTo(2);
    assertThat(lines()).isEqualTo(2);
    assertThat(reads).hasValue(1);
    FileTime before = Files.getLastModifiedTime(file);
    Files.writeString(file, "a\nb\nc\n");
    Files.setLastModifiedTime(file, FileTime.fromMillis(before.toMillis() + 10));
    assertThat(lines()).isEqualTo(3);
    assertThat(reads).hasValue(2);
  }

  @Test
  void indicesAreForgottenWhenTheHeapRunsLow() {
    assertThat(lines()).isEqualTo(2);
    assertThatThrownBy(() -> new long[Integer.MAX_VALUE - 8].clone())
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(lines()).isEqualTo(2);
    assertThat(reads).hasValue(2);
  }
}
