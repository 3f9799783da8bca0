package io.coordl.transformers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * The table of docs/rewritten.md is made from the rules. With {@code -Dcoordl.docs=write} it is
 * written anew instead of compared.
 */
final class DocsTest {
  @Test
  void rewrittenMethodsAreThoseOfTheRules() throws IOException {
    String expected = RewriteTable.markdown();
    Path page = Path.of("..", "docs", "rewritten.md");
    String text = Files.readString(page);
    String open = "<!-- rewritten -->\n";
    String close = "<!-- /rewritten -->";
    assertThat(text).as("marks of the block in %s", page).contains(open).contains(close);
    int start = text.indexOf(open) + open.length();
    int end = text.indexOf(close);
    if ("write".equals(System.getProperty("coordl.docs"))) {
      Files.writeString(page, text.substring(0, start) + expected + text.substring(end));
      return;
    }
    assertThat(text.substring(start, end))
        .as(
            "%s between %s and %s; expected is what follows, "
                + "`mvn -pl agent -am test -Dtest=DocsTest -Dcoordl.docs=write "
                + "-Dsurefire.failIfNoSpecifiedTests=false` writes it:%n%s",
            page, open.strip(), close, expected)
        .isEqualTo(expected);
  }
}
