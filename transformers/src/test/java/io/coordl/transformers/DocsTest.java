package io.coordl.transformers;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * The table of docs/rewritten.md is generated from the rules. {@code -Dcoordl.docs=write} writes
 * the table instead of comparing it.
 */
final class DocsTest {
  @Test
  void tableOfRewrittenMethodsMatchesTheRules() throws IOException {
    DocsBlock.check(
        "rewritten.md",
        "rewritten",
        RewriteTable.markdown(),
        "`mvn -pl agent -am test -Dtest=DocsTest -Dcoordl.docs=write "
            + "-Dsurefire.failIfNoSpecifiedTests=false` writes it");
  }
}
