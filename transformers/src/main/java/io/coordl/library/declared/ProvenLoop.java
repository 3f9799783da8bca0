package io.coordl.library.declared;

import io.coordl.pipeline.SampleVerdict;
import io.coordl.purity.Member;
import io.coordl.purity.PurityAnalyzer;
import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Checks whether the batches of a declared method could be cached. Read-only; any thread. */
public final class ProvenLoop implements Function<Object, @Nullable SampleVerdict> {
  private final List<String> methods;

  /** {@code methods} are separated by spaces: names, some followed by a descriptor. */
  public ProvenLoop(String methods) {
    this.methods = List.of(methods.split(" ", -1));
  }

  @Override
  public @Nullable SampleVerdict apply(Object iterator) {
    for (Class<?> at = iterator.getClass(); at != null; at = at.getSuperclass()) {
      for (Method method : at.getDeclaredMethods()) {
        if (!method.isBridge()
            && (methods.contains(method.getName())
                || methods.contains(method.getName() + Member.of(method).descriptor()))) {
          return verdict(method, iterator);
        }
      }
    }
    return null;
  }

  private static SampleVerdict verdict(Method method, Object iterator) {
    Class<?> type = iterator.getClass();
    String reason = Loop.reasonToLeave(method, type);
    if (reason == null && Twins.of(type) == null) {
      reason = Loop.NO_COPY;
    }
    return reason == null
        ? SampleVerdict.of(
            type.getName(),
            List.of(List.of(iterator)),
            new PurityAnalyzer("", KnownLoop.of(method)),
            new PurityAnalyzer("", KnownLoop.of(method)),
            "")
        : new SampleVerdict(type.getName(), 1, 0, reason, "", reason);
  }
}
