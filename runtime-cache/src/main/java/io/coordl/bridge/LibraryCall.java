package io.coordl.bridge;

import org.jspecify.annotations.Nullable;

/**
 * One call of a library's method that a policy may answer in its stead. Made and used by one
 * thread, that of the call.
 */
public abstract class LibraryCall {
  /** Whether the method's own body need not run: {@link #result} answers without it. */
  public abstract boolean answered();

  /** What the answered method throws in place of its own body; null: {@link #result} answers. */
  public @Nullable Throwable thrown() {
    return null;
  }

  /**
   * What the program gets.
   *
   * @param own what the method's own body returned, null where it did not run or returns nothing;
   *     never called if it threw
   */
  public abstract @Nullable Object result(@Nullable Object own);

  /** Called instead of {@link #result} if the method's own body threw. */
  public void failed() {}
}
