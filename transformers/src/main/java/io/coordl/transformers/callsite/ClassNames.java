package io.coordl.transformers.callsite;

/** Which classes are offered to the rewriters at all. */
public final class ClassNames {
  /** The JDK, our entry class, and agents known to dislike being rewritten. */
  private static final String[] NOT_OFFERED =
      ("java/ javax/ jdk/ sun/ com/sun/ io/coordl/agent/ net/bytebuddy/"
              + " io/opentelemetry/javaagent/ com/dynatrace/ datadog/trace/ co/elastic/apm/"
              + " org/jacoco/")
          .split(" ");

  /**
   * Loaders in which agents, ours too, keep what is theirs, libraries under common names included.
   */
  private static final String[] AGENT_LOADERS = {
    "io.coordl.",
    "io.opentelemetry.javaagent.",
    "datadog.trace.",
    "co.elastic.apm.",
    "com.newrelic.",
  };

  private ClassNames() {}

  /** Whether {@code loader} holds an agent, and so nothing of the program. */
  public static boolean isOfAnAgent(ClassLoader loader) {
    return startsWithOneOf(AGENT_LOADERS, loader.getClass().getName());
  }

  /** Whether a class may be rewritten. */
  public static boolean isOffered(String internalName) {
    return !startsWithOneOf(NOT_OFFERED, internalName);
  }

  private static boolean startsWithOneOf(String[] prefixes, String name) {
    for (String prefix : prefixes) {
      if (name.startsWith(prefix)) {
        return true;
      }
    }
    return false;
  }
}
