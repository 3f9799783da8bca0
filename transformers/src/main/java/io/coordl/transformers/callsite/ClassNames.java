package io.coordl.transformers.callsite;

import org.jspecify.annotations.Nullable;

/** Which classes are offered to the rewriters at all. */
public final class ClassNames {
  /** The JDK, ourselves, and agents known to dislike being rewritten. */
  private static final String[] NOT_OFFERED = {
    "java/",
    "javax/",
    "jdk/",
    "sun/",
    "com/sun/",
    "io/coordl/agent/",
    "io/coordl/attribution/",
    "io/coordl/bridge/",
    "io/coordl/cache/",
    "io/coordl/library/",
    "io/coordl/recording/",
    "io/coordl/transformers/",
    "net/bytebuddy/",
    "io/opentelemetry/javaagent/",
    "com/dynatrace/",
    "datadog/trace/",
    "co/elastic/apm/",
    "org/jacoco/",
  };

  private ClassNames() {}

  /**
   * Whether a class may be rewritten.
   *
   * @param internalName with slashes; null (a hidden class) is not offered
   */
  public static boolean isOffered(@Nullable String internalName) {
    if (internalName == null) {
      return false;
    }
    for (String prefix : NOT_OFFERED) {
      if (internalName.startsWith(prefix)) {
        return false;
      }
    }
    return true;
  }
}
