package io.coordl.bridge;

import org.jspecify.annotations.Nullable;

/** The source before the agent is installed, and after it has given up. */
final class NoItems implements ItemSource {
  @Override
  public @Nullable OpenItem open(String path) {
    return null;
  }

  @Override
  public @Nullable OpenItem openRandomAccess(String path) {
    return null;
  }
}
