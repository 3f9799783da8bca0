package io.coordl.harness;

import java.nio.file.Path;

/**
 * One installed JDK.
 *
 * @param home its directory, with links resolved
 * @param feature its feature release, such as 17
 * @param version its full version
 */
public record Jdk(Path home, int feature, String version) {
  /** Returns the launcher. */
  public Path java() {
    return home.resolve("bin/java");
  }

  @Override
  public String toString() {
    return "JDK " + version + " (" + home + ")";
  }
}
