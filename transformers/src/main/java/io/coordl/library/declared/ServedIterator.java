package io.coordl.library.declared;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.EpochEngine;
import io.coordl.pipeline.EpochSource;
import io.coordl.pipeline.LibraryEpoch;
import io.coordl.pipeline.Worth;
import io.coordl.purity.PurityAnalyzer;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** One iterator of the program, and the current source of its batches. Thread-safe. */
final class ServedIterator extends WeakReference<Object> {
  /** After this many consecutive sources without a batch, the iterator is no longer served. */
  private static final int MAX_FAILURES = 8;

  /** Pause before the next attempt to find a source, as a multiple of the last attempt's time. */
  private static final int PAUSE = 100;

  private final Loop loop;
  private final Loop.Kind kind;
  private final Twins twins;
  private final Worth worth;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable LoopEpoch epoch;
  private @Nullable EpochSource source;

  // The state for which the source was chosen.
  private @Nullable Object settings;
  private boolean keeps;

  /** Time of the next attempt to find a source, in {@link System#nanoTime}. */
  private long nextAttempt;

  private int next;
  private int failures;
  private boolean left;

  ServedIterator(Object iterator, Loop loop, Loop.Kind kind) {
    super(iterator);
    this.loop = loop;
    this.kind = kind;
    this.twins = Objects.requireNonNull(kind.twins);
    this.worth = loop.engine.worth(kind.type.getName(), kind.type.getName());
  }

  /** Serves a request for a batch; returns null if the program prepares the batch itself. */
  @Nullable InterceptedCall next(Object iterator, Object[] arguments) throws IOException {
    if (!lock.tryLock()) {
      return null; // Another thread also requests a batch; which comes first is undefined anyway.
    }
    try {
      if (left || kind.isLeftToProgram()) {
        end();
        return null;
      }
      EpochSource from = source(iterator, arguments);
      return from == null ? null : next(from, iterator);
    } catch (IOException | RuntimeException | Error e) {
      left = true;
      throw e;
    } finally {
      lock.unlock();
    }
  }

  private InterceptedCall next(EpochSource from, Object iterator) throws IOException {
    long span = Spans.enter(SpanKind.TAKE, iterator);
    MadeBatch made = null;
    try {
      made = (MadeBatch) from.batch(next++);
      if (made != null) {
        failures = 0;
        kind.made(Objects.requireNonNull(epoch).nanos());
        from.used();
        from.finish(made);
      }
    } catch (IOException | RuntimeException | Error e) {
      Spans.exit(span, null);
      throw e;
    }
    if (made != null) {
      Spans.exit(span, made.batch());
      return new InterceptedCall(made.batch());
    }
    end();
    nextAttempt = System.nanoTime();
    String reason = Objects.requireNonNull(epoch).reason();
    if (reason != null) {
      leave(reason);
    } else if (++failures == MAX_FAILURES) {
      left = true;
    }
    return new OwnCall(span);
  }

  private void leave(String reason) {
    left = true;
    kind.leave(reason);
  }

  /** Returns the source for the current state; null if the program prepares the batches. */
  private @Nullable EpochSource source(Object iterator, Object[] arguments) throws IOException {
    LoopEpoch known = epoch;
    if (known != null) {
      if (!known.ask(arguments)) {
        end();
        leave(Objects.requireNonNull(known.reason()));
        return null;
      }
      boolean same =
          known.isCurrent(Objects.requireNonNull(settings)) && keeps == loop.engine.serves(false);
      EpochSource now = source;
      if (same && (now == null ? System.nanoTime() - nextAttempt < 0 : !now.isOver())) {
        return now;
      }
      end();
    }
    long start = System.nanoTime();
    EpochSource newSource = begin(iterator, arguments);
    long duration = System.nanoTime() - start;
    nextAttempt = System.nanoTime() + PAUSE * duration;
    kind.examined(duration);
    return newSource;
  }

  private void end() {
    EpochSource now = source;
    source = null;
    if (now != null) {
      now.end();
    }
  }

  private @Nullable EpochSource begin(Object iterator, Object[] arguments) throws IOException {
    LoopEpoch loopEpoch = epoch;
    if (loopEpoch == null || !loopEpoch.isCurrent(Objects.requireNonNull(settings))) {
      PurityAnalyzer.Proof proof = loop.code.prove(List.of(iterator));
      loopEpoch = new LoopEpoch(iterator, loop.method, twins, proof);
      epoch = loopEpoch;
      if (!loopEpoch.ask(arguments)) {
        leave(Objects.requireNonNull(loopEpoch.reason()));
        return null;
      }
    }
    settings = loopEpoch.settings();
    PurityAnalyzer.Proof proof = loopEpoch.proof();
    keeps = loop.engine.serves(false);
    next = 0;
    try {
      source = loop.engine.begin(new Beginning(loopEpoch, proof.reason()));
    } catch (CannotShareException e) {
      loop.engine.leave(e);
    }
    String reason = proof.reason();
    if (reason != null) {
      left = true;
      kind.refuse();
      if (!keeps) { // Otherwise it has been logged.
        loop.logLeaving(kind.type, reason);
      }
    }
    return source;
  }

  /** Runs the program's own call within the wait span that has begun. */
  private static final class OwnCall extends InterceptedCall {
    private final long span;

    OwnCall(long span) {
      super(null);
      this.span = span;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      Spans.exit(span, own);
      return own;
    }

    @Override
    public void failed() {
      Spans.exit(span, null);
    }
  }

  private final class Beginning implements EpochEngine.Beginning {
    private final LoopEpoch of;
    private final @Nullable String reason;

    Beginning(LoopEpoch of, @Nullable String reason) {
      this.of = of;
      this.reason = reason;
    }

    @Override
    public String name() {
      return of.name();
    }

    @Override
    public int batches() {
      return LoopEpoch.ASSUMED;
    }

    @Override
    public Worth worth() {
      return worth;
    }

    @Override
    public boolean mayRunEarly() {
      return reason == null;
    }

    @Override
    public @Nullable String reasonToLeave(boolean keepsThem) {
      return null; // The proof decides.
    }

    /** None: the iterator has already been analysed. */
    @Override
    public List<Object> parts() {
      return List.of();
    }

    @Override
    public LibraryEpoch ofJob() {
      return of;
    }

    @Override
    public LibraryEpoch ofGroup() {
      throw new IllegalStateException("batches of a declared loop are not staged");
    }
  }
}
