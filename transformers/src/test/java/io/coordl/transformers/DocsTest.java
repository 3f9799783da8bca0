package io.coordl.transformers;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * The table of docs/rewritten.md is made from the rules. With {@code -Dcoordl.docs=write} it is
 * written anew instead of compared.
 */
final class DocsTest {
  @Test
  void rewrittenMethodsAreThoseOfTheRules() throws IOException {
    DocsBlock.check(
        "rewritten.md",
        "rewritten",
        RewriteTable.markdown(),
        "`mvn -pl agent -am test -Dtest=DocsTest -Dcoordl.docs=write "
            + "-Dsurefire.failIfNoSpecifiedTests=false` writes it");
  }
}
