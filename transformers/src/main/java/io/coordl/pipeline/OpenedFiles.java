package io.coordl.pipeline;

import io.coordl.bridge.EarlyFileError;
import io.coordl.bridge.Producers;
import io.coordl.items.FileState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The files opened to prepare a sample or batch, each with its state when it was first opened. */
final class OpenedFiles implements Consumer<String> {
  /** Role of an array without values that stands for a file. */
  static final String ROLE = "file";

  /** Name of the part that stands for files that the sample's key already identifies. */
  private static final String NAMED = "";

  private final Map<String, FileState> files = new ConcurrentHashMap<>();

  private final Function<String, FileState> states;

  /** Whether a file was opened so soon after a change that a further one might go unnoticed. */
  private volatile boolean unsettled;

  OpenedFiles() {
    this(FileState::of);
  }

  /** For tests. */
  OpenedFiles(Function<String, FileState> states) {
    this.states = states;
  }

  @Override
  public void accept(String path) {
    files.computeIfAbsent(path, states);
  }

  /**
   * Like {@link #accept}, for a thread that prepares a batch before the program requests it.
   *
   * @throws EarlyFileError if it must not open the file early
   */
  void openEarly(String path) {
    accept(path);
    FileState state = Objects.requireNonNull(files.get(path));
    if (!state.isFile() || state.isPseudo()) {
      files.put(Producers.UNKNOWN, state);
      throw new EarlyFileError(path);
    }
    if (state.size() > 0 && !state.isSettled()) {
      unsettled = true;
    }
  }

  /**
   * Whether a change to any of the files would be detected. A change within an archive, for
   * example, would not.
   */
  boolean areKnown() {
    return !files.containsKey(Producers.UNKNOWN);
  }

  /** Whether no file has changed since it was first opened; false if that is unknown. */
  boolean areUnchanged() {
    return areKnown()
        && !unsettled
        && files.entrySet().stream().allMatch(e -> e.getValue().equals(states.apply(e.getKey())));
  }

  boolean haveOne(Predicate<FileState> condition) {
    return files.values().stream().anyMatch(condition);
  }

  /**
   * Returns the files as parts of a layout, each named by the path that the program used; in a job
   * with another working directory, a relative path denotes another file. Null if a change to one
   * of the files might go unnoticed.
   */
  @Nullable List<BatchLayout.Array> parts() {
    List<BatchLayout.Array> parts = new ArrayList<>();
    for (Map.Entry<String, FileState> file : files.entrySet()) {
      FileState state = file.getValue();
      if (!state.isSettled() || state.isPseudo()) {
        return null;
      }
      parts.add(new BatchLayout.Array(ROLE, "", file.getKey(), state.numbers(), 0));
    }
    return parts;
  }

  /**
   * Returns a part for files that the sample's key already identifies, except for their change
   * times.
   *
   * @param stamp a number derived from these change times
   */
  static BatchLayout.Array stamp(long stamp) {
    return new BatchLayout.Array(ROLE, "", NAMED, stamped(stamp).numbers(), 0);
  }

  private static FileState stamped(long stamp) {
    return new FileState(0, 0, stamp, 0, 0);
  }

  /**
   * Compares the files in a layout with their recorded states; passes their paths to {@code opens}.
   *
   * @param stamp the current stamp, used if the layout has one
   * @return 0 if they are unchanged; a number derived from their change times if only these differ;
   *     null if the bytes of one may differ
   */
  static @Nullable Long changes(BatchLayout layout, long stamp, Consumer<String> opens) {
    long changes = 0;
    for (BatchLayout.Array part : layout.arrays()) {
      if (part.role().equals(ROLE)) {
        FileState then = FileState.of(part.shape());
        FileState now;
        if (part.name().equals(NAMED)) {
          now = stamped(stamp);
        } else {
          opens.accept(part.name());
          now = FileState.of(part.name());
        }
        if (!now.equals(then)) {
          if (!now.isLike(then)) {
            return null;
          }
          changes = mix(changes, now);
        }
      }
    }
    return changes;
  }

  private static long mix(long changes, FileState now) {
    return Checksum.mix(Checksum.mix(changes, now.inode()), now.changedNanos());
  }

  /**
   * Like the other {@code changes}, but compares the recorded states of two layouts, not the
   * current states of the files.
   */
  static @Nullable Long changes(BatchLayout one, BatchLayout other) {
    List<BatchLayout.Array> files = of(one);
    List<BatchLayout.Array> twins = of(other);
    if (files.size() != twins.size()) {
      return null;
    }
    long changes = 0;
    for (int i = 0; i < files.size(); i++) {
      BatchLayout.Array file = files.get(i);
      BatchLayout.Array twin = twins.get(i);
      FileState now = FileState.of(twin.shape());
      if (!file.name().equals(twin.name()) || !now.isLike(FileState.of(file.shape()))) {
        return null;
      }
      if (!file.shape().equals(twin.shape())) {
        changes = mix(changes, now);
      }
    }
    return changes;
  }

  private static List<BatchLayout.Array> of(BatchLayout layout) {
    return layout.arrays().stream().filter(part -> part.role().equals(ROLE)).toList();
  }

  /** Whether two samples are the same, ignoring the change times of their files. */
  static boolean isSame(ByteBuffer one, ByteBuffer other) throws IOException {
    List<BatchLayout.Array> arrays = BatchLayout.read(one).arrays();
    List<BatchLayout.Array> others = BatchLayout.read(other).arrays();
    if (arrays.size() != others.size() || one.limit() != other.limit()) {
      return false;
    }
    for (int i = 0; i < arrays.size(); i++) {
      BatchLayout.Array array = arrays.get(i);
      BatchLayout.Array twin = others.get(i);
      if (!array.equals(twin)
          && !(array.role().equals(ROLE)
              && array.name().equals(twin.name())
              && FileState.of(array.shape()).isLike(FileState.of(twin.shape())))) {
        return false;
      }
    }
    int header = Integer.BYTES + one.getInt(0);
    byte[] values = new byte[one.limit() - header]; // Copied, because mapped memory may disappear.
    byte[] twins = new byte[values.length];
    one.get(header, values);
    other.get(header, twins);
    return Arrays.equals(values, twins);
  }
}
