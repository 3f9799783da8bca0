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

/** Applies the policies to one method that returns batches. Thread-safe. */
final class Loop {
  static final String NO_COPY = "objects of the iterator's class cannot be copied";

  /** Maximum number of iterators known at a time. */
  private static final int MAX_ITERATORS = 64;

  /**
   * Total time that examining a class's iterators may take before {@link #MIN_WORK_RATIO} applies.
   */
  private static final long ALLOWED_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Minimum ratio of the time to prepare batches to the time to examine their iterators. */
  private static final int MIN_WORK_RATIO = 10;

  /** Number of initial examinations per class that do not count, because the code is still cold. */
  private static final int COLD_EXAMINATIONS = 16;

  /** After this many refused iterators of a class, later ones are not examined. */
  private static final int MAX_REFUSED = 3;

  final Method method;
  final PurityAnalyzer code;
  final EpochEngine engine;
  private final @Nullable Prepared prepared;
  private final @Nullable Prefetcher prefetcher;
  private final OnceLog log;

  /** The program's iterators; found by identity, because their equals() must not be called. */
  private final List<ServedIterator> iterators = new CopyOnWriteArrayList<>();

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

  /** Whether a policy may prepare batches now. */
  boolean isWanted() {
    return engine.serves(false) || (prefetcher != null && prefetcher.isWorthwhile());
  }

  /** Returns the served iterator; null if the program prepares its batches itself. */
  @Nullable ServedIterator served(Object iterator) {
    for (ServedIterator served : iterators) {
      if (served.refersTo(iterator)) {
        return served;
      }
    }
    Kind kind = kinds.get(iterator.getClass());
    if (kind.isLeftToProgram()) {
      return null;
    }
    iterators.removeIf(served -> served.refersTo(null));
    if (iterators.size() >= MAX_ITERATORS) {
      iterators.remove(0); // An iterator still in use is added again.
    }
    ServedIterator served = new ServedIterator(iterator, this, kind);
    iterators.add(served);
    return served;
  }

  /** Logs once, with the reason, that the program prepares the batches of a class itself. */
  void logLeaving(Class<?> type, String reason) {
    log.once(
        prepared != null
            ? PreparedSamples.leavesMessage(type.getName(), reason)
            : BatchPrefetcher.leavesMessage(type.getName(), reason));
  }

  /** Returns why the batches of a method cannot be served; null if they can. */
  static @Nullable String reasonToLeave(Method method, Class<?> iterator) {
    if (!method.trySetAccessible()) {
      return String.format(
          "package %s is not open (--add-opens)", method.getDeclaringClass().getPackageName());
    } else if (Modifier.isStatic(method.getModifiers())) {
      return method.getName() + " is static, so nothing shows which batch comes next";
    } else if (!JavaBatch.mayBe(method.getReturnType())) {
      return LoopEpoch.otherBatches(method.getReturnType().getTypeName());
    }
    for (Class<?> argument : method.getParameterTypes()) {
      if (!argument.isPrimitive() && argument != String.class && !argument.isEnum()) {
        return method.getName() + " takes an argument of type " + argument.getTypeName();
      }
    }
    for (Class<?> at = iterator; at != null && at != method.getDeclaringClass(); ) {
      for (Method other : at.getDeclaredMethods()) {
        if (other.getName().equals(method.getName())
            && List.of(other.getParameterTypes()).equals(List.of(method.getParameterTypes()))) {
          return at.getName() + " overrides " + method.getName();
        }
      }
      at = at.getSuperclass();
    }
    return null;
  }

  /** State shared by all iterators of one class. */
  final class Kind {
    final Class<?> type;
    final @Nullable Twins twins;
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger examined = new AtomicInteger();
    private final LongAdder examiningNanos = new LongAdder();
    private final LongAdder preparingNanos = new LongAdder();
    private volatile long lastNanos;

    Kind(Class<?> iterator) {
      boolean isStatic = Modifier.isStatic(method.getModifiers());
      this.type = isStatic ? method.getDeclaringClass() : iterator;
      String reason = reasonToLeave(method, type);
      this.twins = reason == null ? Twins.of(type) : null;
      if (reason == null && twins == null) {
        reason = NO_COPY;
      }
      if (reason != null) {
        refused.set(MAX_REFUSED);
        logLeaving(type, reason);
      }
    }

    boolean isLeftToProgram() {
      return refused.get() >= MAX_REFUSED;
    }

    /**
     * Called after an iterator has been examined; ignores the first few examinations, when the code
     * is still cold.
     */
    void examined(long nanos) {
      examiningNanos.add(examined.incrementAndGet() > COLD_EXAMINATIONS ? nanos : 0);
      long all = examiningNanos.sum();
      if (all > ALLOWED_NANOS && all > preparingNanos.sum() / MIN_WORK_RATIO) {
        leave("examining each iterator takes too long for its few batches");
      }
    }

    /** Called when the program gets a batch, which took {@code nanos} to prepare; 0 if unknown. */
    void made(long nanos) {
      if (nanos > 0) {
        lastNanos = nanos;
      }
      preparingNanos.add(lastNanos);
    }

    /** Counts a refused iterator; does not log the reason. */
    void refuse() {
      refused.incrementAndGet();
    }

    /** Stops serving iterators of this class, and logs the reason. */
    void leave(String reason) {
      refused.set(MAX_REFUSED);
      logLeaving(type, reason);
    }
  }
}
