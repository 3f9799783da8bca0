package io.coordl.transformers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The generated part of a page in docs, between two marks. */
public final class DocsBlock {
  private DocsBlock() {}

  /**
   * Compares a block with the expected text; with {@code -Dcoordl.docs=write} writes it instead.
   *
   * @param page path below docs
   * @param mark the block's name, in its first and last line
   * @param otherwise how to regenerate the block, for the message if it differs
   */
  public static void check(String page, String mark, String expected, String otherwise)
      throws IOException {
    Path path = Path.of("..", "docs", page);
    String text = Files.readString(path);
    String open = "<!-- " + mark + " -->\n";
    String close = "<!-- /" + mark + " -->";
    assertThat(text).as("marks of the block in %s", path).contains(open).contains(close);
    int start = text.indexOf(open) + open.length();
    int end = text.indexOf(close);
    if ("write".equals(System.getProperty("coordl.docs"))) {
      Files.writeString(path, text.substring(0, start) + expected + text.substring(end));
      return;
    }
    assertThat(text.substring(start, end))
        .as("%s between %s and %s; %s", path, open.strip(), close, otherwise)
        .isEqualTo(expected);
  }
}
