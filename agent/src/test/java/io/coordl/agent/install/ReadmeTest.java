package io.coordl.agent.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.transformers.RewriteTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * The README's tables are the declarations of the code. With {@code -Dcoordl.readme=write} they are
 * written anew instead of compared.
 */
final class ReadmeTest {
  private static final Path README = Path.of("..", "README.md");

  @Test
  void argumentsAreThoseOfOption() throws IOException {
    check("arguments", OptionTable.markdown());
  }

  @Test
  void rewrittenMethodsAreThoseOfTheRules() throws IOException {
    check("rewritten", RewriteTable.markdown());
  }

  private static void check(String block, String expected) throws IOException {
    String text = Files.readString(README);
    String open = "<!-- " + block + " -->\n";
    String close = "<!-- /" + block + " -->";
    assertThat(text).as("marks of the block in README.md").contains(open).contains(close);
    int start = text.indexOf(open) + open.length();
    int end = text.indexOf(close);
    if ("write".equals(System.getProperty("coordl.readme"))) {
      Files.writeString(README, text.substring(0, start) + expected + text.substring(end));
      return;
    }
    assertThat(text.substring(start, end))
        .as(
            "README.md between %s and %s; expected is what follows, "
                + "`mvn -pl agent -am test -Dtest=ReadmeTest -Dcoordl.readme=write "
                + "-Dsurefire.failIfNoSpecifiedTests=false` writes it:%n%s",
            open.strip(), close, expected)
        .isEqualTo(expected);
  }
}
