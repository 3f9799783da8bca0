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

/** One iterator of the program, and what makes its batches now. Thread-safe. */
final class Pass extends WeakReference<Object> {
  /** Sources in a row that gave no batch, after which the iterator is left alone. */
  private static final int MOST_IN_VAIN = 8;

  /** Time until the next try to find a source, as a multiple of what the last one took. */
  private static final int PAUSE = 100;

  private final Loop loop;
  private final Loop.Kind kind;
  private final Fields fields;
  private final Worth worth;
  private final ReentrantLock asking = new ReentrantLock();
  private @Nullable LoopEpoch epoch;
  private @Nullable EpochSource source;

  // The circumstances under which the source was chosen.
  private @Nullable Object settings;
  private boolean keeps;

  /** When to try again to find one, as told by {@link System#nanoTime}. */
  private long again;

  private int next;
  private int inVain;
  private boolean left;

  Pass(Object iterator, Loop loop, Loop.Kind kind) {
    super(iterator);
    this.loop = loop;
    this.kind = kind;
    this.fields = Objects.requireNonNull(kind.fields);
    this.worth = loop.engine.worth(kind.type.getName());
  }

  /** The program asks for a batch; null if it makes that itself. */
  @Nullable InterceptedCall next(Object iterator, Object[] arguments) throws IOException {
    if (!asking.tryLock()) {
      return null; // Another thread of the program asks, too; whose batch comes first is its luck.
    }
    try {
      if (left || kind.isLeft()) {
        end();
        return null;
      }
      EpochSource from = source(iterator, arguments);
      return from == null ? null : next(from, iterator);
    } catch (IOException | RuntimeException | Error e) {
      left = true;
      throw e;
    } finally {
      asking.unlock();
    }
  }

  private InterceptedCall next(EpochSource from, Object iterator) throws IOException {
    long span = Spans.enter(SpanKind.TAKE, iterator);
    Made made = null;
    try {
      made = (Made) from.batch(next++);
      if (made != null) {
        inVain = 0;
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
    again = System.nanoTime();
    String reason = Objects.requireNonNull(epoch).reason();
    if (reason != null) {
      leave(reason);
    } else if (++inVain == MOST_IN_VAIN) {
      left = true;
    }
    return new OwnCall(span);
  }

  private void leave(String reason) {
    left = true;
    kind.leave(reason);
  }

  /** What makes the batches under the present circumstances; null if the program does. */
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
      if (same && (now == null ? System.nanoTime() - again < 0 : !now.isOver())) {
        return now;
      }
      end();
    }
    long start = System.nanoTime();
    EpochSource begun = begin(iterator, arguments);
    long took = System.nanoTime() - start;
    again = System.nanoTime() + PAUSE * took;
    kind.looked(took);
    return begun;
  }

  private void end() {
    EpochSource now = source;
    source = null;
    if (now != null) {
      now.end();
    }
  }

  private @Nullable EpochSource begin(Object iterator, Object[] arguments) throws IOException {
    LoopEpoch begun = epoch;
    if (begun == null || !begun.isCurrent(Objects.requireNonNull(settings))) {
      PurityAnalyzer.Proof proof = loop.code.prove(List.of(iterator));
      begun = new LoopEpoch(iterator, loop.method, fields, proof);
      epoch = begun;
      if (!begun.ask(arguments)) {
        leave(Objects.requireNonNull(begun.reason()));
        return null;
      }
    }
    settings = begun.settings();
    PurityAnalyzer.Proof proof = begun.proof();
    keeps = loop.engine.serves(false);
    next = 0;
    try {
      source = loop.engine.begin(new Beginning(begun, proof.reason()));
    } catch (CannotShareException e) {
      loop.engine.leave(e);
    }
    String reason = proof.reason();
    if (reason != null) {
      left = true;
      kind.refuse();
      if (!keeps) { // Else it has been logged.
        loop.leaves(kind.type, reason);
      }
    }
    return source;
  }

  /** The program's own call runs, within the wait that has begun. */
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
      return null; // The proof tells.
    }

    /** Proven already. */
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
