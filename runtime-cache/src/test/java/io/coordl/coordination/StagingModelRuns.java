package io.coordl.coordination;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@link StagingModelTest} as a program, for JDKs that do not run the build. */
final class StagingModelRuns {
  private StagingModelRuns() {}

  /** Runs every test; throws the first failure. */
  public static void main(String[] args) throws Throwable {
    List<Method> tests =
        Arrays.stream(StagingModelTest.class.getDeclaredMethods())
            .filter(method -> method.isAnnotationPresent(Test.class))
            .sorted(Comparator.comparing(Method::getName))
            .toList();
    for (Method test : tests) {
      test.setAccessible(true);
      test.invoke(new StagingModelTest());
    }
    System.out.println(tests.size() + " tests on JDK " + Runtime.version());
  }
}
