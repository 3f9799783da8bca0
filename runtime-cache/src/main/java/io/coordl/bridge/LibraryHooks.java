package io.coordl.bridge;

import org.jspecify.annotations.Nullable;

/**
 * Handles calls of intercepted library methods. Called concurrently on all threads that run the
 * program's code; must not affect the program's random generators, interrupt flags or workspaces.
 */
public interface LibraryHooks {
  LibraryHooks NONE = Nothing.INSTANCE;

  /**
   * Called before an intercepted method runs.
   *
   * @param interceptor name of the interceptor
   * @param declaring class that declares the method
   * @param method name of the method
   * @param self the receiver; the class if the method is static
   * @param arguments as passed; must not be changed
   * @return null to run the program's call unchanged
   */
  @Nullable InterceptedCall enter(
      String interceptor, Class<?> declaring, String method, Object self, Object[] arguments);
}
