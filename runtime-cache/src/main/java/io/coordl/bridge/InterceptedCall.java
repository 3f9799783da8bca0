package io.coordl.bridge;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One call of a library method that a policy intercepts. Used only by the calling thread. */
public class InterceptedCall {
  private final @Nullable Object replacement;

  /**
   * Creates a call that returns {@code replacement} instead of running the method; if null, the
   * method runs.
   */
  public InterceptedCall(@Nullable Object replacement) {
    this.replacement = replacement;
  }

  /** Returns a call that runs the method and converts its result with {@code change}. */
  public static InterceptedCall after(UnaryOperator<@Nullable Object> change) {
    return new InterceptedCall(null) {
      @Override
      public @Nullable Object result(@Nullable Object own) {
        return change.apply(own);
      }
    };
  }

  /** Returns a call that runs the method and then {@code end}, even if the method threw. */
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

  /** Returns a call that throws {@code thrown} instead of running the method. */
  public static InterceptedCall throwing(Throwable thrown) {
    return new InterceptedCall(thrown) {
      @Override
      public Throwable thrown() {
        return thrown;
      }
    };
  }

  /** Returns a call that skips the method and returns nothing. */
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

  /**
   * Returns an exception to throw instead of returning {@link #result}; null for none. Called
   * first, unless the method's body threw.
   */
  public @Nullable Throwable thrown() {
    return null;
  }

  /**
   * Returns the result for the program; {@code own} is the result of the method's body, null if it
   * did not run or returns nothing. Not called if the body threw.
   */
  public @Nullable Object result(@Nullable Object own) {
    return replacement == null ? own : replacement;
  }

  /** Called instead of {@link #result} if the method's body threw. */
  public void failed() {}
}
