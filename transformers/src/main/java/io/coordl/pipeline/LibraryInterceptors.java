package io.coordl.pipeline;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Sends each call to the interceptor for its library. An interceptor is created at the first call
 * for its library class in each class loader, and is unloaded with that loader. If the library is
 * incompatible, this is reported once, and its calls are not intercepted.
 */
public final class LibraryInterceptors implements LibraryHooks {
  /** Receives the classes that are not intercepted. */
  public interface Listener {
    /** Called when {@code interceptor} will not intercept the class. */
    void skipped(String interceptor, Class<?> declaring, String reason);
  }

  private final Map<String, String> anchors;

  private final Services services;
  private final Listener listener;

  /** By name; stored in the class itself, so that neither outlives the other. */
  private final ClassValue<Map<String, LibraryHooks>> interceptors =
      new ClassValue<>() {
        @Override
        protected Map<String, LibraryHooks> computeValue(Class<?> anchor) {
          return new ConcurrentHashMap<>();
        }
      };

  /**
   * Creates interceptors when they are first called.
   *
   * @param anchors for each interceptor that serves classes of any name, the library class for
   *     which it is created; any other interceptor is created for the intercepted class itself
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

  /**
   * Returns the interceptor for a class's methods; it does nothing if the library is incompatible.
   */
  public LibraryHooks of(String interceptor, Class<?> declaring) {
    Map<String, LibraryHooks> known = interceptors.get(declaring);
    LibraryHooks hooks = known.get(interceptor);
    if (hooks == null) {
      Class<?> anchor = anchor(interceptor, declaring);
      hooks =
          anchor == null
              ? LibraryHooks.NONE
              : interceptors.get(anchor).computeIfAbsent(interceptor, name -> make(name, anchor));
      known.put(interceptor, hooks);
    }
    return hooks;
  }

  /**
   * Returns the class for which to create an interceptor; null if the program does not have the
   * part of the library that is intercepted.
   */
  private @Nullable Class<?> anchor(String interceptor, Class<?> declaring) {
    String name = anchors.get(interceptor);
    if (name == null || name.equals(declaring.getName())) {
      return declaring;
    }
    try {
      return Class.forName(name, false, declaring.getClassLoader());
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  private LibraryHooks make(String interceptor, Class<?> declaring) {
    try {
      Object made =
          LibraryLoader.load(interceptor, declaring)
              .getConstructor(Class.class, Services.class)
              .newInstance(declaring, services);
      return made instanceof LibraryBatches batches
          ? new ProfiledBatches(services, batches)
          : (LibraryHooks) made;
    } catch (ReflectiveOperationException | LinkageError e) {
      Throwable cause = e.getCause() != null ? e.getCause() : e;
      listener.skipped(interceptor, declaring, cause.toString());
      return LibraryHooks.NONE;
    }
  }
}
