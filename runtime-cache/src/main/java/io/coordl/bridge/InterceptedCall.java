package io.coordl.bridge;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One call of a library's method that a policy intercepts. Made and used by one thread, that of the
 * call.
 */
public class InterceptedCall {
  private final @Nullable Object replacement;

  /** With what the program gets in place of the method's result; null: the method runs. */
  public InterceptedCall(@Nullable Object replacement) {
    this.replacement = replacement;
  }

  /** The method runs, and the program gets what {@code change} makes of its result. */
  public static InterceptedCall after(UnaryOperator<@Nullable Object> change) {
    return new InterceptedCall(null) {
      @Override
      public @Nullable Object result(@Nullable Object own) {
        return change.apply(own);
      }
    };
  }

  /** The method runs, and {@code end} after it, whether it has returned or thrown. */
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

  /** The method does not run, and returns nothing. */
  public static InterceptedCall skipping() {
    return new InterceptedCall(null) {
      @Override
      public boolean replaced() {
        return true;
      }
    };
  }

  /** Whether the method's own body need not run. */
  public boolean replaced() {
    return replacement != null;
  }

  /** What a replaced method throws; null: it returns {@link #result}. */
  public @Nullable Throwable thrown() {
    return null;
  }

  /**
   * What the program gets; {@code own} is what the method's own body returned, null where it did
   * not run or returns nothing. Never called if it threw.
   */
  public @Nullable Object result(@Nullable Object own) {
    return replacement == null ? own : replacement;
  }

  /** Called instead of {@link #result} if the method's own body threw. */
  public void failed() {}
}
