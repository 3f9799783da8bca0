package io.coordl.bridge;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Redirects a file that a library writes to. */
@FunctionalInterface
public interface Redirection {
  /** Opens the stream to write to instead; null for no redirection. */
  @Nullable OutputStream open(Path path) throws IOException;

  /**
   * Redirects files that this thread creates through rewritten calls from now on; null ends
   * redirection. Returns the previous redirection.
   */
  static @Nullable Redirection use(@Nullable Redirection redirection) {
    Redirection previous = FileWrites.REDIRECTIONS.get();
    FileWrites.REDIRECTIONS.set(redirection);
    return previous;
  }

  /** Whether files that this thread creates are redirected. */
  static boolean isInUse() {
    return FileWrites.REDIRECTIONS.get() != null;
  }
}
