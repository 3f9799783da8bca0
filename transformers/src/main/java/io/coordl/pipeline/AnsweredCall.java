package io.coordl.pipeline;

import io.coordl.bridge.LibraryCall;
import org.jspecify.annotations.Nullable;

/** A call that the program gets a result of ours for. */
public final class AnsweredCall extends LibraryCall {
  private final Object result;

  /** With what the program gets. */
  public AnsweredCall(Object result) {
    this.result = result;
  }

  /** Null of null: the library's own call is made. */
  public static @Nullable AnsweredCall of(@Nullable Object result) {
    return result == null ? null : new AnsweredCall(result);
  }

  @Override
  public boolean answered() {
    return true;
  }

  @Override
  public Object result(@Nullable Object own) {
    return result;
  }
}
