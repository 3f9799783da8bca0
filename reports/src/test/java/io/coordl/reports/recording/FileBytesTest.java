package io.coordl.reports.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileBytesTest {
  @TempDir Path folder;

  /** Writes a number as JFR does. */
  private static void write(ByteArrayOutputStream out, long number) {
    long left = number;
    for (int i = 0; i < 8; i++) {
      if (left >>> 7 == 0) {
        out.write((int) left);
        return;
      }
      out.write((int) ((left & 0x7F) | 0x80));
      left >>>= 7;
    }
    out.write((int) left);
  }

  @Test
  void numbersOfEveryLengthAreReadAtAnyPosition() throws Exception {
    Random random = new Random(7);
    List<Long> numbers = new ArrayList<>(List.of(0L, 127L, 128L, -1L, 1L << 56, (1L << 56) - 1));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < 600_000; i++) {
      numbers.add(random.nextLong() >>> random.nextInt(64));
    }
    numbers.forEach(number -> write(out, number));
    assertThat(out.size()).isGreaterThan(2 * FileBytes.WINDOW);

    List<Long> read = new ArrayList<>();
    try (FileBytes bytes = new FileBytes(Files.write(folder.resolve("n"), out.toByteArray()))) {
      while (bytes.position() < bytes.length) {
        read.add(bytes.number());
      }
    }

    assertThat(read).isEqualTo(numbers);
  }

  @Test
  void aNumberBeyondTheBoundIsNotRead() throws Exception {
    byte[] continued = new byte[100];
    Arrays.fill(continued, (byte) 0x80);
    try (FileBytes bytes = new FileBytes(Files.write(folder.resolve("n"), continued))) {
      bytes.seek(0, 5);
      assertThatThrownBy(bytes::number).isInstanceOf(EOFException.class);
      bytes.seek(20, 20);
      assertThatThrownBy(bytes::number).isInstanceOf(EOFException.class);
      bytes.seek(97, 100);
      assertThatThrownBy(bytes::number).isInstanceOf(EOFException.class);
      bytes.seek(20, 29);
      assertThat(bytes.number()).isEqualTo(0x80L << 56);
      assertThat(bytes.position()).isEqualTo(29);
    }
  }
}
