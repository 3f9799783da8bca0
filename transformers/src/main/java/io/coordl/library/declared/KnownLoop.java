package io.coordl.library.declared;

import io.coordl.purity.Member;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.transformers.callsite.ClassNames;
import java.lang.reflect.Method;
import java.util.Set;

/**
 * Assumptions of the purity analysis about a method that the user named with {@code batch=}: none
 * about its code, which belongs to the program or to an unknown library. The fields of its iterator
 * may change between two calls ({@link IteratorState}).
 *
 * @param declaring the class that contains the method's code
 * @param runs names and descriptors of the methods that the agent calls on the iterator
 */
record KnownLoop(Class<?> declaring, Set<String> runs) implements PurityAnalyzer.Known {
  private static final String HAS_NEXT = "hasNext()Z";

  static KnownLoop of(Method batch) {
    Member called = Member.of(batch);
    return new KnownLoop(
        batch.getDeclaringClass(), Set.of(called.name() + called.descriptor(), HAS_NEXT));
  }

  @Override
  public boolean keepsPlace(Class<?> type) {
    return declaring.isAssignableFrom(type)
        || (type != Object.class && type.isAssignableFrom(declaring));
  }

  @Override
  public boolean copiesPlace() {
    return true;
  }

  @Override
  public boolean noticesFiles(String owner) {
    return ClassNames.isOffered(owner);
  }

  @Override
  public boolean isOfLibrary(String className) {
    return false;
  }

  @Override
  public boolean isClosed(Class<?> declared) {
    return false;
  }

  @Override
  public boolean isKnown(String owner, String method) {
    return false;
  }
}
