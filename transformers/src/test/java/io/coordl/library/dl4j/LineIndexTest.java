package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Lines are those of the JDK's reader, from any starting line. */
class LineIndexTest {
  private static final Charset UTF_8 = StandardCharsets.UTF_8;

  private static void check(String text) throws IOException {
    List<String> lines = new BufferedReader(new StringReader(text)).lines().toList();
    byte[] bytes = text.getBytes(UTF_8);
    LineIndex index = LineIndex.of(new ByteArrayInputStream(bytes));
    assertThat(index.lines()).as(text).isEqualTo(lines.size());
    for (int line = 0; line < lines.size(); line++) {
      BufferedReader from = index.from(new ByteArrayInputStream(bytes), UTF_8, line);
      assertThat(from.lines()).as(text).isEqualTo(lines.subList(line, lines.size()));
    }
  }

  @Test
  void allLineTerminatorsAreRecognised() throws IOException {
    check("");
    check("a");
    check("a\n");
    check("\n");
    check("a\r\nb\rc\nd");
    check("\r\n\n\r\r\n");
    check("a\n\nb\n\n");
  }

  @Test
  void allCharactersAreRead() throws IOException {
    Random random = new Random(1);
    String characters = "ab,\u00e9\u20ac\ud83d\ude00\n\r";
    for (int text = 0; text < 50; text++) {
      StringBuilder made = new StringBuilder();
      random
          .ints(400, 0, characters.length())
          .forEach(
              at ->
                  made.append(
                      Character.isSurrogate(characters.charAt(at))
                          ? "\ud83d\ude00"
                          : characters.substring(at, at + 1)));
      check(made.toString());
    }
  }

  /** The index can store far fewer positions than the file has lines. */
  @Test
  void indexStaysSmallWithManyLines() throws IOException {
    int lines = 16 * 64 * 5 + 37;
    StringBuilder text = new StringBuilder();
    for (int line = 0; line < lines; line++) {
      text.append(line).append('\n');
    }
    byte[] bytes = text.toString().getBytes(UTF_8);
    LineIndex index = LineIndex.of(new ByteArrayInputStream(bytes), 16, Integer.MAX_VALUE);
    assertThat(index.lines()).isEqualTo(lines);
    for (int line = 0; line < lines; line++) {
      BufferedReader from = index.from(new ByteArrayInputStream(bytes), UTF_8, line);
      assertThat(from.readLine()).isEqualTo("" + line);
    }
  }

  @Test
  void readingStopsAtTheLimitOfLines() throws IOException {
    InputStream endless = new Repeated("a\n".getBytes(UTF_8), Long.MAX_VALUE);
    assertThat(LineIndex.of(endless, 16, 100_000).lines()).isEqualTo(100_001);
    byte[] exactly = "a\n".repeat(100).getBytes(UTF_8);
    assertThat(LineIndex.of(new ByteArrayInputStream(exactly), 16, 100).lines()).isEqualTo(100);
  }

  /** Twice the number of lines exceeds an int. Takes 2.6 s. */
  @Test
  void moreThanTwoToThe30thLinesAreIndexed() throws IOException {
    assumeTrue(Boolean.getBoolean("coordl.full"), "a gigabyte of lines: runs only with -Pfull");
    int lines = (1 << 30) + 100;
    LineIndex index =
        LineIndex.of(new Repeated(new byte[] {'\n'}, lines), 1 << 20, Integer.MAX_VALUE - 1);
    assertThat(index.lines()).isEqualTo(lines);
    try (BufferedReader from =
        index.from(new Repeated(new byte[] {'\n'}, lines), UTF_8, lines - 2)) {
      assertThat(from.lines().count()).isEqualTo(2);
    }
  }

  /** Repeats the same bytes. */
  private static final class Repeated extends InputStream {
    private final byte[] bytes;
    private long left;
    private int at;

    Repeated(byte[] bytes, long length) {
      this.bytes = bytes;
      this.left = length;
    }

    @Override
    public int read() {
      if (left == 0) {
        return -1;
      }
      left--;
      at = at == bytes.length ? 0 : at;
      return bytes[at++];
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      int count = (int) Math.min(left, length);
      for (int i = 0; i < count; i++) {
        target[offset + i] = (byte) read();
      }
      return count == 0 ? -1 : count;
    }

    @Override
    public long skip(long count) {
      long skipped = Math.min(left, count);
      left -= skipped;
      at = (int) ((at + skipped) % bytes.length);
      return skipped;
    }
  }

  @Test
  void possibleCommentLinesAreDetected() throws IOException {
    assertThat(LineIndex.of(new ByteArrayInputStream("1 # a\n".getBytes(UTF_8))).hasHashes())
        .isFalse();
    assertThat(LineIndex.of(new ByteArrayInputStream("1\n# a\n".getBytes(UTF_8))).hasHashes())
        .isTrue();
  }
}
