package io.coordl.agent.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Every module, even one that only a Maven profile builds, has the version of the project. */
class ModulesTest {
  private static final Path ROOT = Path.of("..");

  /**
   * The version after the first artifact id. In the root pom it is the project's own; in the
   * others, the parent's.
   */
  private static final Pattern VERSION =
      Pattern.compile("<artifactId>coordl-[a-z-]+</artifactId>\\s*<version>([^<]+)</version>");

  private static String version(Path pom) {
    try {
      Matcher version = VERSION.matcher(Files.readString(pom));
      assertThat(version.find()).as("version in %s", pom).isTrue();
      return version.group(1);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void everyModuleHasTheVersionOfTheProject() throws IOException {
    String expected = version(ROOT.resolve("pom.xml"));
    Matcher modules =
        Pattern.compile("<module>([^<]+)</module>")
            .matcher(Files.readString(ROOT.resolve("pom.xml")));
    List<Path> poms =
        modules.results().map(module -> ROOT.resolve(module.group(1)).resolve("pom.xml")).toList();
    assertThat(poms).contains(ROOT.resolve("agent/library-programs/pom.xml"));
    assertThat(poms).allSatisfy(pom -> assertThat(version(pom)).as("%s", pom).isEqualTo(expected));
  }
}
