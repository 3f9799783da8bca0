package io.coordl.pipeline;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.Producers;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Combines the interceptors of a library's policies, for a library whose own calls prepare the
 * batches: {@link EpochEngine#choose} sends each call to the one that serves it. If an interceptor
 * fails, the call goes to the next one.
 *
 * @param prefetched null if that policy is not in force; the others likewise
 */
public record PolicyHooks(
    @Nullable LibraryHooks prefetched, @Nullable LibraryHooks staged, @Nullable LibraryHooks kept)
    implements LibraryHooks {
  private interface Asking {
    @Nullable InterceptedCall of(LibraryHooks policy);
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> declaring, String method, Object self, Object[] arguments) {
    Asking asking =
        policy -> {
          try {
            return policy.enter(interceptor, declaring, method, self, arguments);
          } catch (Throwable t) {
            Bridge.fault(declaring.getName() + "." + method, t);
            Producers.awaitAfterTrip(); // In case this fault tripped the agent.
            return null;
          }
        };
    try {
      return EpochEngine.choose(
          false,
          next -> around(prefetched, asking, next),
          next -> around(staged, asking, next),
          next -> around(kept, asking, next),
          () -> null);
    } catch (CannotShareException | IOException e) {
      throw new IllegalStateException(e); // Cannot happen: no interceptor throws these.
    }
  }

  private static @Nullable InterceptedCall around(
      @Nullable LibraryHooks policy, Asking asking, EpochEngine.Chosen<InterceptedCall> next)
      throws CannotShareException, IOException {
    InterceptedCall outer = policy == null ? null : asking.of(policy);
    if (outer != null && outer.replaced()) {
      return outer;
    }
    InterceptedCall inner = next.get();
    return outer == null ? inner : inner == null ? outer : new Nested(outer, inner);
  }

  /** {@code outer} surrounds {@code inner}, which surrounds the library's method. */
  private static final class Nested extends InterceptedCall {
    private final InterceptedCall outer;
    private final InterceptedCall inner;

    Nested(InterceptedCall outer, InterceptedCall inner) {
      super(null);
      this.outer = outer;
      this.inner = inner;
    }

    @Override
    public boolean replaced() {
      return inner.replaced();
    }

    @Override
    public @Nullable Throwable thrown() {
      Throwable thrown = Bridge.thrown(inner);
      if (thrown != null) {
        Bridge.failed(outer);
      }
      return thrown;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      return outer.result(Bridge.leave(inner, own));
    }

    @Override
    public void failed() {
      Bridge.failed(inner);
      outer.failed();
    }
  }
}
