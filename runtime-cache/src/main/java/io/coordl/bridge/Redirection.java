package io.coordl.bridge;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where a file that a library writes goes instead. */
@FunctionalInterface
public interface Redirection {
  /** Null: where the library wants it. */
  @Nullable OutputStream open(Path path) throws IOException;

  /**
   * From now on files that this thread creates by a rewritten call go there, null: no more. Returns
   * where they went before.
   */
  static @Nullable Redirection use(@Nullable Redirection redirection) {
    Redirection before = FileWrites.REDIRECTIONS.get();
    FileWrites.REDIRECTIONS.set(redirection);
    return before;
  }

  /** Whether files that this thread creates go elsewhere. */
  static boolean isInUse() {
    return FileWrites.REDIRECTIONS.get() != null;
  }
}
