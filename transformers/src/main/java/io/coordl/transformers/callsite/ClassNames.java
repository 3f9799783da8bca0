package io.coordl.transformers.callsite;

/** Decides which classes are offered to the rewriters. */
public final class ClassNames {
  /** Packages of the JDK, of the agent's entry point, of Byte Buddy and of other agents. */
  private static final String[] NOT_OFFERED =
      ("java/ javax/ jdk/ sun/ com/sun/ io/coordl/agent/ net/bytebuddy/"
              + " io/opentelemetry/javaagent/ com/dynatrace/ datadog/trace/ co/elastic/apm/"
              + " org/jacoco/")
          .split(" ");

  /**
   * Prefixes of the class names of agents' loaders, including this agent's. These loaders also load
   * libraries under their usual names.
   */
  private static final String[] AGENT_LOADERS = {
    "io.coordl.",
    "io.opentelemetry.javaagent.",
    "datadog.trace.",
    "co.elastic.apm.",
    "com.newrelic.",
  };

  private ClassNames() {}

  /** Whether {@code loader} belongs to an agent, and so has no class of the program. */
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
