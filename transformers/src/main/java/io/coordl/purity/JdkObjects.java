package io.coordl.purity;

import java.lang.reflect.Modifier;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.Spliterator;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;

/** Classifies JDK objects to which a program refers; their fields are inaccessible. */
public final class JdkObjects {
  /** Locks, random generators, caches: irrelevant to batches, or handled elsewhere. */
  private static final List<String> IRRELEVANT =
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
   * Returns the comparator of a sorted JDK collection or map; null if it is unsorted or uses
   * natural order.
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

  /**
   * Whether objects of a JDK type inherit this method without parameters from {@code Object}; true
   * if unknown. Of abstract types, only lambdas, iterators and streams are assumed to do so.
   */
  static boolean inherits(String className, String method) {
    try {
      Class<?> type = Class.forName(className, false, ClassLoader.getPlatformClassLoader());
      return Modifier.isAbstract(type.getModifiers()) // Also of interfaces.
          ? type.isAnnotationPresent(FunctionalInterface.class)
              || Iterator.class.isAssignableFrom(type)
              || Spliterator.class.isAssignableFrom(type)
              || BaseStream.class.isAssignableFrom(type)
          : type.getMethod(method).getDeclaringClass() == Object.class;
    } catch (ReflectiveOperationException | LinkageError e) {
      return true;
    }
  }

  /** Whether objects of the class with this name are irrelevant to batches. */
  public static boolean isIrrelevant(String className) {
    return IRRELEVANT.stream().anyMatch(className::startsWith);
  }
}
