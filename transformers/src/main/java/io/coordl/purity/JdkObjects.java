package io.coordl.purity;

import java.util.List;

/** Objects of the JDK among those of a program: their fields are closed to us. */
public final class JdkObjects {
  /** Locks, generators of random numbers, caches: they decide no batch, or none of a known kind. */
  private static final List<String> TELLING_NOTHING =
      List.of(
          ("java.lang.Object java.lang.Thread java.lang.ref. java.text. java.util.Random"
                  + " java.util.SplittableRandom java.util.concurrent. java.util.logging."
                  + " java.security.SecureRandom sun.util.")
              .split(" "));

  private JdkObjects() {}

  /** Whether the class came with the JDK. */
  public static boolean isOfJdk(Class<?> type) {
    ClassLoader loader = type.getClassLoader();
    return loader == null || loader == ClassLoader.getPlatformClassLoader();
  }

  /** Whether an object of the class of that name may be any, as far as batches go. */
  public static boolean tellsNothing(String className) {
    return TELLING_NOTHING.stream().anyMatch(className::startsWith);
  }
}
