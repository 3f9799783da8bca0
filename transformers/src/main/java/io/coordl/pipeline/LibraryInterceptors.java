package io.coordl.pipeline;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Sends each call to the code of ours that knows the library, which is made at the first call of
 * each class, of each loader in the program, and goes with it. A library that is not as expected is
 * left alone from then on, and that is said once.
 */
public final class LibraryInterceptors implements LibraryHooks {
  /** Hears of a class that is left alone. */
  public interface Listener {
    /** The class will not be intercepted by {@code interceptor}. */
    void skipped(String interceptor, Class<?> declaring, String reason);
  }

  private final Map<String, String> anchors;

  private final Services services;
  private final Listener listener;

  /** By name; kept in the class itself, so that neither outlives the other. */
  private final ClassValue<Map<String, LibraryHooks>> interceptors =
      new ClassValue<>() {
        @Override
        protected Map<String, LibraryHooks> computeValue(Class<?> anchor) {
          return new ConcurrentHashMap<>();
        }
      };

  /**
   * Makes interceptors as they are called.
   *
   * @param anchors by the name of an interceptor, the class of the library that stands for its
   *     loader, where one interceptor serves classes of any name; elsewhere each intercepted class
   *     has its own
   */
  public LibraryInterceptors(Map<String, String> anchors, Services services, Listener listener) {
    this.anchors = Map.copyOf(anchors);
    this.services = services;
    this.listener = listener;
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> declaring, String method, Object self, Object[] arguments) {
    return of(interceptor, declaring).enter(interceptor, declaring, method, self, arguments);
  }

  /** The code of ours for calls of a class's methods; nothing if the library is not as expected. */
  public LibraryHooks of(String interceptor, Class<?> declaring) {
    Map<String, LibraryHooks> known = interceptors.get(declaring);
    LibraryHooks hooks = known.get(interceptor);
    if (hooks == null) {
      Class<?> anchor = anchor(interceptor, declaring);
      hooks = interceptors.get(anchor).computeIfAbsent(interceptor, name -> make(name, anchor));
      known.put(interceptor, hooks);
    }
    return hooks;
  }

  private Class<?> anchor(String interceptor, Class<?> declaring) {
    String name = anchors.get(interceptor);
    if (name == null || name.equals(declaring.getName())) {
      return declaring;
    }
    try {
      return Class.forName(name, false, declaring.getClassLoader());
    } catch (ClassNotFoundException e) {
      return declaring; // Which is then found not to fit.
    }
  }

  private LibraryHooks make(String interceptor, Class<?> declaring) {
    try {
      return LibraryLoader.load(interceptor, declaring)
          .asSubclass(LibraryHooks.class)
          .getConstructor(Class.class, Services.class)
          .newInstance(declaring, services);
    } catch (ReflectiveOperationException | LinkageError e) {
      Throwable cause = e.getCause() != null ? e.getCause() : e;
      listener.skipped(interceptor, declaring, cause.toString());
      return LibraryHooks.NONE;
    }
  }
}
