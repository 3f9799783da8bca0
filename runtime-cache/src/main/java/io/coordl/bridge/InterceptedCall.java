package io.coordl.bridge;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One call of a library method that a policy intercepts. Used only by the calling thread. */
public class InterceptedCall {
  private final @Nullable Object replacement;

  /** Creates a call with a replacement for the method's result; null: the method runs. */
  public InterceptedCall(@Nullable Object replacement) {
    this.replacement = replacement;
  }

  /** The method runs, and {@code change} converts its result for the program. */
  public static InterceptedCall after(UnaryOperator<@Nullable Object> change) {
    return new InterceptedCall(null) {
      @Override
      public @Nullable Object result(@Nullable Object own) {
        return change.apply(own);
      }
    };
  }

  /** The method runs, then {@code end} runs, whether the method returned or threw. */
  public static InterceptedCall ending(Runnable end) {
    return new InterceptedCall(null) {
      @Override
      public @Nullable Object result(@Nullable Object own) {
        end.run();
        return own;
      }

      @Override
      public void failed() {
        end.run();
      }
    };
  }

  /** The method does not run; the program gets {@code thrown} instead. */
  public static InterceptedCall throwing(Throwable thrown) {
    return new InterceptedCall(thrown) {
      @Override
      public Throwable thrown() {
        return thrown;
      }
    };
  }

  /** The method does not run and returns nothing. */
  public static InterceptedCall skipping() {
    return new InterceptedCall(null) {
      @Override
      public boolean replaced() {
        return true;
      }
    };
  }

  /** Whether the method's own body is skipped. */
  public boolean replaced() {
    return replacement != null;
  }

  /** The exception of a replaced method; null: it returns {@link #result}. */
  public @Nullable Throwable thrown() {
    return null;
  }

  /**
   * The result for the program; {@code own} is the result of the method's own body, null if it did
   * not run or returns nothing. Never called if the body threw.
   */
  public @Nullable Object result(@Nullable Object own) {
    return replacement == null ? own : replacement;
  }

  /** Called instead of {@link #result} if the method's own body threw. */
  public void failed() {}
}
