package io.coordl.host;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Closes resources that have no buffered data, and ignores failures. */
public final class Closeables {
  private Closeables() {}

  public static void closeQuietly(@Nullable Closeable closeable) {
    try {
      if (closeable != null) {
        closeable.close();
      }
    } catch (IOException e) {
      // Nothing is lost.
    }
  }
}
