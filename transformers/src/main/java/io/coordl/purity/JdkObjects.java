package io.coordl.purity;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.PriorityBlockingQueue;
import org.jspecify.annotations.Nullable;

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

  public static boolean isOfJdk(Class<?> type) {
    ClassLoader loader = type.getClassLoader();
    return loader == null || loader == ClassLoader.getPlatformClassLoader();
  }

  /**
   * By what a collection or map of the JDK sorts; null if it does not, or by its elements alone.
   */
  public static @Nullable Comparator<?> comparator(Object container) {
    return container instanceof SortedMap<?, ?> map
        ? map.comparator()
        : container instanceof SortedSet<?> set
            ? set.comparator()
            : container instanceof PriorityQueue<?> queue
                ? queue.comparator()
                : container instanceof PriorityBlockingQueue<?> queue ? queue.comparator() : null;
  }

  /** Whether an object of the class of that name may be any, as far as batches go. */
  public static boolean tellsNothing(String className) {
    return TELLING_NOTHING.stream().anyMatch(className::startsWith);
  }
}
