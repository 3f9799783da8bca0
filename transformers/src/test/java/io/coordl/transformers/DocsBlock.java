package io.coordl.transformers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The part of a page of docs that is made by a test, between two marks. */
public final class DocsBlock {
  private DocsBlock() {}

  /**
   * Compares a block with what is expected; with {@code -Dcoordl.docs=write} writes it instead.
   *
   * @param page below docs
   * @param mark of its beginning and its end
   * @param otherwise how to write it, for whoever finds it to differ
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
