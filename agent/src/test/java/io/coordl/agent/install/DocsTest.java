package io.coordl.agent.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.library.LibraryArgument;
import io.coordl.library.catalog.Libraries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * The table of docs/arguments.md matches the declarations of {@link Option} and the libraries'
 * arguments. {@code -Dcoordl.docs=write} rewrites it instead of comparing.
 */
final class DocsTest {
  /** Returns the table that the page must contain. */
  static String markdown() {
    StringBuilder text =
        new StringBuilder("| key | values | default | effect |\n|---|---|---|---|\n");
    for (Option option : Option.values()) {
      text.append("| `")
          .append(option.key())
          .append("` | ")
          .append(option.expected)
          .append(" | `")
          .append(option.defaultValue)
          .append("` | ")
          .append(option.description)
          .append(" |\n");
    }
    for (LibraryArgument argument : Libraries.known().arguments()) {
      text.append("| `")
          .append(argument.key())
          .append("` | ")
          .append(argument.expected())
          .append(" (may be repeated) | `" + LibraryArgument.NONE + "` | ")
          .append(argument.description())
          .append(" |\n");
    }
    return text.toString();
  }

  @Test
  void theDocumentedArgumentsAreThoseOfTheCode() throws IOException {
    String expected = markdown();
    Path page = Path.of("..", "docs", "arguments.md");
    String text = Files.readString(page);
    String open = "<!-- arguments -->\n";
    String close = "<!-- /arguments -->";
    assertThat(text).as("marks of the block in %s", page).contains(open).contains(close);
    int start = text.indexOf(open) + open.length();
    int end = text.indexOf(close);
    if ("write".equals(System.getProperty("coordl.docs"))) {
      Files.writeString(page, text.substring(0, start) + expected + text.substring(end));
      return;
    }
    assertThat(text.substring(start, end))
        .as(
            "%s between %s and %s; `mvn -pl agent -am test -Dtest=DocsTest -Dcoordl.docs=write "
                + "-Dsurefire.failIfNoSpecifiedTests=false` writes the expected text:%n%s",
            page, open.strip(), close, expected)
        .isEqualTo(expected);
  }
}
