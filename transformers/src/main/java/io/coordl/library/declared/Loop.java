package io.coordl.library.declared;

import io.coordl.pipeline.BatchPrefetcher;
import io.coordl.pipeline.EpochEngine;
import io.coordl.pipeline.Prefetcher;
import io.coordl.pipeline.Prepared;
import io.coordl.pipeline.PreparedSamples;
import io.coordl.pipeline.Services;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.telemetry.log.OnceLog;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The policies for one method that returns batches. Thread-safe. */
final class Loop {
  static final String NO_COPY = "its objects cannot be copied";

  /** The most iterators that are known at a time. */
  private static final int MOST = 64;

  /** Examining iterators may take this long before it counts, and then this part of their work. */
  private static final long NOTICEABLE = TimeUnit.SECONDS.toNanos(1);

  private static final int DEAR = 10;

  /** Once this many iterators of a class were refused, later ones are not examined. */
  private static final int ENOUGH = 3;

  final Method method;
  final PurityAnalyzer code;
  final EpochEngine engine;
  private final @Nullable Prepared prepared;
  private final @Nullable Prefetcher prefetcher;
  private final OnceLog log;

  /** The program's iterators; found by identity, since its own equality must not be called. */
  private final List<Pass> passes = new CopyOnWriteArrayList<>();

  private final ClassValue<Kind> kinds =
      new ClassValue<>() {
        @Override
        protected Kind computeValue(Class<?> type) {
          return new Kind(type);
        }
      };

  Loop(Method method, Services services) {
    this.method = method;
    this.prepared = services.prepared();
    this.prefetcher = services.prefetcher();
    this.log = new OnceLog(services.log());
    this.code = new PurityAnalyzer("", KnownLoop.of(method));
    Services used =
        Services.builder(services.log())
            .prepared(prepared)
            .prefetcher(prefetcher, services.threads())
            .build();
    this.engine = new EpochEngine(Declared.NAME, used, code);
  }

  /** Whether a policy may make batches now. */
  boolean isWanted() {
    return engine.serves(false) || (prefetcher != null && prefetcher.isWorthwhile());
  }

  /** An iterator of the program; null if its batches are left to it. */
  @Nullable Pass pass(Object iterator) {
    for (Pass pass : passes) {
      if (pass.refersTo(iterator)) {
        return pass;
      }
    }
    Kind kind = kinds.get(iterator.getClass());
    if (kind.isLeft()) {
      return null;
    }
    passes.removeIf(pass -> pass.refersTo(null));
    if (passes.size() >= MOST) {
      passes.remove(0); // If the program still uses it, it begins anew.
    }
    Pass pass = new Pass(iterator, this, kind);
    passes.add(pass);
    return pass;
  }

  /** Logs once that the batches of a class are left to the program, and why. */
  void leaves(Class<?> type, String reason) {
    log.once(
        prepared != null
            ? PreparedSamples.leaves(type.getName(), reason)
            : BatchPrefetcher.leaves(reason));
  }

  /** Why the batches that a method of an iterator returns are left to the program; null if not. */
  static @Nullable String reasonToLeave(Method method, Class<?> iterator) {
    if (!method.trySetAccessible()) {
      return "its package is not open (--add-opens)";
    } else if (Modifier.isStatic(method.getModifiers())) {
      return method.getName() + " is static, so nothing tells which batch comes next";
    } else if (!JavaBatch.mayBe(method.getReturnType())) {
      return LoopEpoch.otherBatches(method.getReturnType().getName());
    }
    for (Class<?> argument : method.getParameterTypes()) {
      if (!argument.isPrimitive() && argument != String.class && !argument.isEnum()) {
        return method.getName() + " is given a " + argument.getName();
      }
    }
    for (Class<?> at = iterator; at != null && at != method.getDeclaringClass(); ) {
      for (Method other : at.getDeclaredMethods()) {
        if (other.getName().equals(method.getName())
            && List.of(other.getParameterTypes()).equals(List.of(method.getParameterTypes()))) {
          return "it overrides " + method.getName();
        }
      }
      at = at.getSuperclass();
    }
    return null;
  }

  /** The iterators of one class. */
  final class Kind {
    final Class<?> type;
    final @Nullable Fields fields;
    private final AtomicInteger refused = new AtomicInteger();
    private final LongAdder looked = new LongAdder();
    private final LongAdder made = new LongAdder();
    private volatile long making;

    Kind(Class<?> iterator) {
      boolean isStatic = Modifier.isStatic(method.getModifiers());
      this.type = isStatic ? method.getDeclaringClass() : iterator;
      String reason = reasonToLeave(method, type);
      this.fields = reason == null ? Fields.of(type) : null;
      if (reason == null && fields == null) {
        reason = NO_COPY;
      }
      if (reason != null) {
        refused.set(ENOUGH);
        leaves(type, reason);
      }
    }

    boolean isLeft() {
      return refused.get() >= ENOUGH;
    }

    /** An iterator was examined, which took so long. */
    void looked(long nanos) {
      looked.add(nanos);
      long all = looked.sum();
      if (all > NOTICEABLE && all > made.sum() / DEAR) {
        leave("to examine its objects takes too long for the few batches of each");
      }
    }

    /** The program got a batch; {@code nanos} to make it, 0 if it was found. */
    void made(long nanos) {
      if (nanos > 0) {
        making = nanos;
      }
      made.add(making);
    }

    /** One of them was refused, and the reason logged. */
    void refuse() {
      refused.incrementAndGet();
    }

    /** All of them are left to the program from now on. */
    void leave(String reason) {
      refused.set(ENOUGH);
      leaves(type, reason);
    }
  }
}
