package io.coordl.agent.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.transformers.RewriteTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * The tables of docs/ are the declarations of the code. With {@code -Dcoordl.docs=write} they are
 * written anew instead of compared.
 */
final class DocsTest {
  private static final Path DOCS = Path.of("..", "docs");

  @Test
  void argumentsAreThoseOfOption() throws IOException {
    check("arguments", OptionTable.markdown());
  }

  @Test
  void rewrittenMethodsAreThoseOfTheRules() throws IOException {
    check("rewritten", RewriteTable.markdown());
  }

  private static void check(String block, String expected) throws IOException {
    Path page = DOCS.resolve(block + ".md");
    String text = Files.readString(page);
    String open = "<!-- " + block + " -->\n";
    String close = "<!-- /" + block + " -->";
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
