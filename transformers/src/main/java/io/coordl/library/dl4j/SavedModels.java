package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.checkpoint.Resume;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.optimize.listeners.Checkpoint;
import org.deeplearning4j.optimize.listeners.CheckpointListener;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.dataset.api.preprocessor.DataNormalization;

/**
 * Intercepts {@code ModelSerializer} and {@code CheckpointListener}. The library's own code writes
 * models to a temporary file that then replaces the target. If models are written in the
 * background, the library's code first writes to memory, and arrays are copied as it reaches them
 * ({@link WrittenModel}); encoding, compression and file output follow later. The listener's next
 * actions (a line in its list, deletions) wait until the file is written.
 */
public final class SavedModels implements LibraryHooks {
  private static final InterceptedCall DONE = new InterceptedCall(true);

  private final ModelFiles files;
  private final @Nullable Resume resume;

  /** The save in progress of this thread's listener. */
  private static final ThreadLocal<@Nullable Save> SAVES = new ThreadLocal<>();

  /** Set while this thread loads a model, because one overload calls another. */
  private static final ThreadLocal<Boolean> LOADS = ThreadLocal.withInitial(() -> false);

  public SavedModels(Class<?> declaring, Services services) throws ReflectiveOperationException {
    Symbols.require(SavedModels.class, WrittenModel.class);
    this.files = Objects.requireNonNull(services.models());
    this.resume = services.resume();
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    return switch (method) {
      case "writeModel" ->
          arguments[1] instanceof OutputStream
              ? toStream()
              : trySkipSave() ? DONE : writeModel(arguments);
      case "saveCheckpoint" -> trySkipSave() ? DONE : files.inBackground() ? saving() : null;
      case "write" -> writeLine(arguments);
      case "build" -> {
        files.await(); // build() may delete existing checkpoints, including pending ones.
        yield null;
      }
      case "availableCheckpoints" -> availableCheckpoints();
      case "getFileForCheckpoint" -> fileForCheckpoint();
      case "lastCheckpoint" -> lastCheckpoint(arguments[0]);
      case "addNormalizerToModel", "addObjectToFile" -> change(arguments[0]);
      default -> load(arguments[0]);
    };
  }

  /**
   * Skips and counts a save that the earlier job has completed, because the weights now differ and
   * the file exists. Returns false if the save must run.
   */
  private boolean trySkipSave() {
    return resume != null && resume.trySkipSave();
  }

  /**
   * Lets the library write to a stream even while steps are skipped, because the program has opened
   * the stream and expects content.
   */
  private @Nullable InterceptedCall toStream() {
    if (resume != null && resume.isSkipping()) {
      resume.lacks(
          "models that the program saves to its own streams during skipped steps contain the"
              + " restored weights");
    }
    return null;
  }

  // ---- writing

  private @Nullable InterceptedCall writeModel(Object[] arguments) {
    Path target = path(arguments[1]);
    if (target == null || !(arguments[0] instanceof Model model)) {
      return null;
    }
    boolean updater = (boolean) arguments[2];
    DataNormalization normalizer = arguments.length > 3 ? (DataNormalization) arguments[3] : null;
    WrittenModel written = new WrittenModel(model, updater, normalizer);
    long span = Spans.enter(SpanKind.CHECKPOINT, model);
    try {
      ModelFiles.Pending saved = files.save(target, written);
      Save save = SAVES.get();
      if (save != null && saved != null && !saved.isInPlace()) {
        save.file = saved;
      }
      return saved == null ? null : DONE;
    } catch (Throwable t) {
      return written.thrown(t);
    } finally {
      Spans.exit(span, null);
    }
  }

  // ---- listener actions after a save

  /** One run of {@code CheckpointListener.saveCheckpoint}. */
  private static final class Save {
    ModelFiles.@Nullable Pending file;
    final List<String> lines = new ArrayList<>();
  }

  private static InterceptedCall saving() {
    SAVES.set(new Save());
    return InterceptedCall.ending(SAVES::remove);
  }

  /** Returns this thread's save if its file is being written. */
  private @Nullable Save pending() {
    Save save = SAVES.get();
    return save != null && save.file != null ? save : null;
  }

  private @Nullable InterceptedCall writeLine(Object[] arguments) {
    Save save = pending();
    if (save == null || !(arguments[0] instanceof String line)) {
      return null;
    }
    Path file = ((File) arguments[1]).toPath();
    save.lines.add(line);
    Objects.requireNonNull(save.file)
        .then(
            () -> {
              try {
                Files.writeString(
                    file,
                    line,
                    Charset.defaultCharset(),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    return new InterceptedCall(line);
  }

  /** Shows the listener its pending file as if it were written. */
  private @Nullable InterceptedCall availableCheckpoints() {
    Save save = pending();
    if (save == null) {
      files.await();
      return null;
    }
    return InterceptedCall.after(
        own -> {
          List<Object> all = new ArrayList<>((List<?>) Objects.requireNonNull(own));
          for (String line : save.lines) {
            Checkpoint written = Checkpoint.fromFileString(line.strip());
            if (!all.contains(written)) { // The file may be in place by now.
              all.add(written);
            }
          }
          return all;
        });
  }

  /** Called when the listener requests a file to delete it. */
  private @Nullable InterceptedCall fileForCheckpoint() {
    Save save = pending();
    if (save == null) {
      files.await();
      return null;
    }
    ModelFiles.Pending newer = Objects.requireNonNull(save.file);
    return InterceptedCall.after(
        own -> new LateFile(((File) Objects.requireNonNull(own)).getPath(), newer));
  }

  /** A file that is deleted once the newer one is in place. */
  private static final class LateFile extends File {
    private static final long serialVersionUID = 1;

    private final transient ModelFiles.Pending newer;

    LateFile(String path, ModelFiles.Pending newer) {
      super(path);
      this.newer = newer;
    }

    @Override
    public boolean delete() {
      Path path = Path.of(getPath());
      newer.then(
          () -> {
            try {
              Files.deleteIfExists(path);
            } catch (IOException e) {
              // Like the library's own deletion, fails silently.
            }
          });
      return true;
    }
  }

  // ---- reading

  /** Returns the last complete checkpoint. */
  private @Nullable InterceptedCall lastCheckpoint(Object directory) {
    files.await();
    if (!(directory instanceof File root)) {
      return null;
    }
    return InterceptedCall.after(
        own -> {
          if (!(own instanceof Checkpoint last)) {
            return own;
          }
          return files.newestWhole(
              last,
              () -> {
                List<Checkpoint> all = CheckpointListener.availableCheckpoints(root);
                return IntStream.iterate(all.size() - 2, i -> i >= 0, i -> i - 1)
                    .mapToObj(all::get)
                    .iterator();
              },
              one -> new File(root, one.getFilename()).toPath());
        });
  }

  private @Nullable InterceptedCall load(Object from) {
    Path file = path(from);
    if (file == null || LOADS.get()) {
      return null;
    }
    try {
      files.check(file);
    } catch (IOException e) {
      return InterceptedCall.throwing(e);
    }
    LOADS.set(true);
    return InterceptedCall.ending(LOADS::remove);
  }

  /** Called when the library itself rewrites the file. */
  private @Nullable InterceptedCall change(Object what) {
    Path file = path(what);
    if (file == null) {
      return null;
    }
    files.await(file);
    return InterceptedCall.after(
        own -> {
          files.changed(file);
          return own;
        });
  }

  private static @Nullable Path path(Object file) {
    try {
      return file instanceof File given
          ? ModelFiles.path(given)
          : file instanceof String name ? ModelFiles.path(new File(name)) : null;
    } catch (InvalidPathException e) {
      return null;
    }
  }
}
