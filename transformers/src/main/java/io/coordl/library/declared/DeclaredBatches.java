package io.coordl.library.declared;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.host.AgentThread;
import io.coordl.pipeline.Services;
import java.io.IOException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@code prepared=share} and {@code prefetch=N} for the methods that the user declares with {@code
 * batch=}.
 */
public final class DeclaredBatches implements LibraryHooks {
  private final List<Method> methods;
  private final Services services;
  private final Map<Method, Loop> loops = new ConcurrentHashMap<>();

  /** Intercepts the batch methods of {@code declaring}. */
  public DeclaredBatches(Class<?> declaring, Services services) {
    this.methods =
        Stream.of(declaring.getDeclaredMethods()).filter(method -> !method.isBridge()).toList();
    this.services = services;
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (LoopEpoch.isMaking() || Thread.currentThread() instanceof AgentThread) {
      return null; // The agent itself runs the method.
    }
    Method target = method(method, arguments);
    Loop loop = target == null ? null : loop(target);
    ServedIterator served = loop != null && loop.isWanted() ? loop.served(self) : null;
    try {
      return served == null ? null : served.next(self, arguments);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private Loop loop(Method target) {
    return loops.computeIfAbsent(target, first -> new Loop(first, services));
  }

  /** Returns the method with this name that accepts these arguments; null unless it is unique. */
  private @Nullable Method method(String name, Object[] arguments) {
    List<Method> candidates =
        methods.stream()
            .filter(method -> method.getName().equals(name) && accepts(method, arguments))
            .toList();
    return candidates.size() == 1 ? candidates.get(0) : null;
  }

  private static boolean accepts(Method method, Object[] arguments) {
    Class<?>[] types = method.getParameterTypes();
    if (types.length != arguments.length) {
      return false;
    }
    for (int i = 0; i < types.length; i++) {
      Object argument = arguments[i];
      if (argument != null
          && !MethodType.methodType(types[i]).wrap().returnType().isInstance(argument)) {
        return false;
      }
    }
    return true;
  }
}
