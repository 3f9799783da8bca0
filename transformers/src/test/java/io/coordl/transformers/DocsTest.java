package io.coordl.transformers;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * The tables in docs/rewritten.md are generated from the rules. {@code -Dcoordl.docs=write} writes
 * the tables instead of comparing them.
 */
final class DocsTest {
  @Test
  void tablesOfRewrittenMethodsMatchTheRules() throws IOException {
    DocsBlock.check(
        "rewritten.md",
        "rewritten",
        RewriteTable.markdown(),
        "`mvn -pl agent -am test -Dtest=DocsTest -Dcoordl.docs=write "
            + "-Dsurefire.failIfNoSpecifiedTests=false` writes it");
  }
}
