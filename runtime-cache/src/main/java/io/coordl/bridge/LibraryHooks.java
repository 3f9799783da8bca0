package io.coordl.bridge;

import org.jspecify.annotations.Nullable;

/**
 * What stands behind intercepted library methods. Called on the program's threads, by any number of
 * them at once; must not touch the program's random generators, interrupt flag or workspaces.
 */
public interface LibraryHooks {
  LibraryHooks NONE = Nothing.INSTANCE;

  /**
   * A call is about to be made.
   *
   * @param interceptor name of what intercepts it
   * @param declaring class whose method it is
   * @param method its name
   * @param self whose method it is; the class if it is static
   * @param arguments as passed; not to be changed
   * @return null to leave the call alone
   */
  @Nullable InterceptedCall enter(
      String interceptor, Class<?> declaring, String method, Object self, Object[] arguments);
}
