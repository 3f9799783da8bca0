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

  /** Serves the methods of {@code declaring}. */
  public DeclaredBatches(Class<?> declaring, Services services) {
    this.methods =
        Stream.of(declaring.getDeclaredMethods()).filter(method -> !method.isBridge()).toList();
    this.services = services;
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (LoopEpoch.isMaking() || Thread.currentThread() instanceof AgentThread) {
      return null; // The method runs for the agent.
    }
    Method called = method(method, arguments);
    Loop loop = called == null ? null : loop(called);
    Pass pass = loop != null && loop.isWanted() ? loop.pass(self) : null;
    try {
      return pass == null ? null : pass.next(self, arguments);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private Loop loop(Method called) {
    return loops.computeIfAbsent(called, first -> new Loop(first, services));
  }

  /** The method with that name which takes these arguments; null if several do. */
  private @Nullable Method method(String name, Object[] arguments) {
    List<Method> found =
        methods.stream()
            .filter(method -> method.getName().equals(name) && takes(method, arguments))
            .toList();
    return found.size() == 1 ? found.get(0) : null;
  }

  private static boolean takes(Method method, Object[] arguments) {
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
