package io.coordl.pipeline;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The files that were opened to prepare something, as each was when it was first opened. */
final class OpenedFiles implements Consumer<String> {
  /** Of an array without values that stands for a file. */
  static final String ROLE = "file";

  private static final String ATTRIBUTES = "unix:size,lastModifiedTime,fileKey,ctime";

  private final Map<String, State> files = new ConcurrentHashMap<>();

  /** What differs when a file is rewritten or replaced. */
  private record State(long size, long modifiedNanos, String identity) {
    static final State MISSING = new State(-1, 0, "");

    static State of(String path) {
      try {
        Map<String, Object> now = Files.readAttributes(Path.of(path), ATTRIBUTES);
        return new State(
            (Long) Objects.requireNonNull(now.get("size")),
            ((FileTime) Objects.requireNonNull(now.get("lastModifiedTime")))
                .to(TimeUnit.NANOSECONDS),
            // An inode may be taken again; when it last changed nobody can set.
            now.get("fileKey") + " " + now.get("ctime"));
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

  /** The files as parts of a layout; null if one of them was missing. */
  @Nullable List<BatchLayout.Array> parts() {
    List<BatchLayout.Array> parts = new ArrayList<>();
    for (Map.Entry<String, State> file : files.entrySet()) {
      State state = file.getValue();
      if (state.size() < 0) {
        return null;
      }
      parts.add(
          new BatchLayout.Array(
              ROLE,
              state.identity(),
              Path.of(file.getKey()).toAbsolutePath().toString(),
              List.of(state.size(), state.modifiedNanos()),
              0));
    }
    return parts;
  }

  /** Whether the files that a layout names are what they were; each is announced to listeners. */
  static boolean areUnchanged(BatchLayout layout, Consumer<String> opens) {
    for (BatchLayout.Array part : layout.arrays()) {
      if (part.role().equals(ROLE)) {
        opens.accept(part.name());
        State then = new State(part.shape().get(0), part.shape().get(1), part.type());
        if (!then.equals(State.of(part.name()))) {
          return false;
        }
      }
    }
    return true;
  }
}
