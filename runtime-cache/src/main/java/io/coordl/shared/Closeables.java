package io.coordl.shared;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Closes what is of no use any more, whether that fails or not: nothing was buffered in it. */
public final class Closeables {
  private Closeables() {}

  public static void closeQuietly(@Nullable Closeable closeable) {
    try {
      if (closeable != null) {
        closeable.close();
      }
    } catch (IOException e) {
      // So nothing is lost.
    }
  }
}
