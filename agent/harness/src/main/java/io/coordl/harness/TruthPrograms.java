package io.coordl.harness;

import java.io.IOException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Starts programs of {@code example.truth}, and reads what they measured themselves. */
final class TruthPrograms {
  private TruthPrograms() {}

  /**
   * Returns a program to run with the agent; it takes {@code name} as its first argument.
   *
   * @param module the example whose class path holds its framework
   * @param arguments the agent's arguments
   */
  static ChildJvm child(
      Checkout checkout, Jdk jdk, String mainClass, String module, String name, String arguments)
      throws IOException {
    ChildJvm child =
        new ChildJvm(jdk, mainClass)
            .classPath(checkout.testPrograms(), checkout.exampleJar(module))
            .classPathFile(checkout.exampleClassPath(module))
            .agent(checkout.agentJar(), arguments)
            .jvmArgs(
                "-Xmx512m",
                "-XX:TieredStopAtLevel=1",
                "-Dai.djl.offline=true",
                "-DDJL_CACHE_DIR=" + checkout.work("djl-cache"),
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
            .args(name)
            .environment("OMP_NUM_THREADS", "1")
            .environment("COORDL_OPTS", "");
    if (jdk.feature() >= 24) {
      child.jvmArgs("--enable-native-access=ALL-UNNAMED");
    }
    return child;
  }

  /**
   * Returns the line of JSON that a program printed.
   *
   * @throws IllegalStateException if there is none
   * @throws IOException if it is malformed
   */
  static JsonNode json(Object program, String out) throws IOException {
    String line =
        out.lines()
            .filter(candidate -> candidate.startsWith("{"))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(program + " printed no JSON: " + out));
    try {
      return JsonMapper.shared().readTree(line);
    } catch (JacksonException e) {
      throw new IOException(program + " printed no JSON: " + line, e);
    }
  }
}
