package io.coordl.bridge;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The counterpart of {@link FileReads} for writes. A stream is redirected only while a library
 * saves a model on the same thread ({@link Redirection}).
 */
public final class FileWrites {
  static final ThreadLocal<@Nullable Redirection> REDIRECTIONS = new ThreadLocal<>();

  private FileWrites() {}

  public static OutputStream newOutputStream(Path path, OpenOption... options) throws IOException {
    Redirection redirection = REDIRECTIONS.get();
    OutputStream stream =
        redirection == null || path == null || options == null || options.length > 0
            ? null
            : redirected(redirection, path);
    return stream == null ? Files.newOutputStream(path, options) : stream;
  }

  private static @Nullable OutputStream redirected(Redirection redirection, Path path) {
    try {
      return redirection.open(path);
    } catch (Throwable t) {
      Bridge.fault("write " + path, t);
      return null;
    }
  }
}
