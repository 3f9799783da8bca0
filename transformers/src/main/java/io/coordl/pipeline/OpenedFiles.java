package io.coordl.pipeline;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The files that were opened to prepare a batch, as each was when it was first opened. */
final class OpenedFiles implements Consumer<String> {
  private final Map<String, State> files = new ConcurrentHashMap<>();

  /** What differs when a file is rewritten or replaced. */
  private record State(long size, @Nullable FileTime modified, @Nullable Object identity) {
    static final State MISSING = new State(-1, null, null);

    static State of(String path) {
      try {
        BasicFileAttributes now = Files.readAttributes(Path.of(path), BasicFileAttributes.class);
        return new State(now.size(), now.lastModifiedTime(), now.fileKey());
      } catch (IOException | RuntimeException e) {
        return MISSING;
      }
    }
  }

  @Override
  public void accept(String path) {
    files.computeIfAbsent(path, State::of);
  }

  /** Whether each is the same file now, of the same size and time of modification. */
  boolean areUnchanged() {
    return files.entrySet().stream().allMatch(e -> e.getValue().equals(State.of(e.getKey())));
  }
}
