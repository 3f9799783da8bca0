package io.coordl.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Lines are those that a reader of the JDK has, wherever it begins. */
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
  void linesEndInEveryWay() throws IOException {
    check("");
    check("a");
    check("a\n");
    check("\n");
    check("a\r\nb\rc\nd");
    check("\r\n\n\r\r\n");
    check("a\n\nb\n\n");
  }

  @Test
  void anyTextIsRightWhateverItsCharacters() throws IOException {
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

  @Test
  void linesThatMayBeCommentsAreSeen() throws IOException {
    assertThat(LineIndex.of(new ByteArrayInputStream("1 # a\n".getBytes(UTF_8))).hasHashes())
        .isFalse();
    assertThat(LineIndex.of(new ByteArrayInputStream("1\n# a\n".getBytes(UTF_8))).hasHashes())
        .isTrue();
  }
}
