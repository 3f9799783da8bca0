package io.coordl.library.djl;

import ai.djl.BaseModel;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.Redirection;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.checkpoint.ModelFile;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.checkpoint.Resume;
import io.coordl.checkpoint.Staged;
import io.coordl.pipeline.Services;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * {@code Model.save} and {@code Model.load}. The library writes either to a temporary file that
 * then replaces the target, or to memory, which is written to the file in the background.
 */
public final class SavedModels implements LibraryHooks {
  private static final Pattern PARAMETERS = Pattern.compile("(.*)-(\\d{4,9})\\.params");

  private final ModelFiles files;
  private final @Nullable Resume resume;

  public SavedModels(Class<?> declaring, Services services) throws NoSuchFieldException {
    Objects.requireNonNull(BaseModel.class.getDeclaredField("modelDir"));
    this.files = Objects.requireNonNull(services.models());
    this.resume = services.resume();
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    try {
      switch (method) {
        case "save" -> {
          if (resume != null && resume.leavesOutSave()) {
            return InterceptedCall.skipping(); // An earlier job has saved it.
          }
          return arguments[0] instanceof Path directory
              ? new Save(self, directory, files.beginTurn())
              : null;
        }
        case "paramPathResolver" -> {
          files.await();
          return arguments[1] instanceof Map<?, ?> options && options.get("epoch") != null
              ? null
              : InterceptedCall.after(own -> own instanceof Path last ? lastWhole(last) : own);
        }
        default -> {
          if (arguments[0] instanceof Path file) {
            files.check(file);
          }
          return null;
        }
      }
    } catch (IOException e) {
      return InterceptedCall.throwing(e);
    }
  }

  /** If no particular epoch was requested: the last one whose file is complete. */
  private Path lastWhole(Path last) {
    Matcher name = PARAMETERS.matcher(last.getFileName().toString());
    if (last.getFileSystem() != FileSystems.getDefault()
        || !name.matches()
        || !files.isDamaged(last)) {
      return last;
    }
    for (int epoch = Integer.parseInt(name.group(2)) - 1; epoch >= 0; epoch--) {
      Path before =
          last.resolveSibling(String.format(Locale.ROOT, "%s-%04d.params", name.group(1), epoch));
      if (Files.exists(before) && !files.isDamaged(before)) {
        return before;
      }
    }
    return last;
  }

  /**
   * One call of {@code Model.save}; its file is the one that the library creates in the directory.
   */
  private final class Save extends InterceptedCall implements Redirection {
    private final Path directory;
    private final long start = System.nanoTime();
    private final long span;

    /** Whether it is queued to be written in the background. */
    private final boolean later;

    private final @Nullable Redirection outer;
    private @Nullable ModelFile file;
    private @Nullable Staged staged;

    Save(Object model, Path directory, boolean later) {
      super(null);
      this.directory = directory;
      this.later = later;
      span = Spans.enter(SpanKind.CHECKPOINT, model);
      outer = Redirection.use(this);
    }

    @Override
    public @Nullable OutputStream open(Path path) {
      if (file != null
          || !directory.equals(path.getParent())
          || !PARAMETERS.matcher(path.getFileName().toString()).matches()) {
        return null;
      }
      ModelFile made = files.create(path);
      file = made;
      if (made == null) {
        return null;
      }
      if (!later) {
        return made.stream();
      }
      Staged memory = new Staged(files.memory(), made.stream());
      staged = memory;
      return memory;
    }

    @Override
    public @Nullable Throwable thrown() {
      Redirection.use(outer);
      ModelFile made = file;
      Staged memory = staged;
      try {
        if (made != null && memory != null && !memory.isFlushed()) {
          files.persist(made, memory::writeTo);
          files.raise();
        } else if (made != null) {
          try (made) {
            files.publish(made, start);
          }
        }
      } catch (IOException e) {
        return e;
      } finally {
        end();
      }
      return null;
    }

    private void end() {
      if (later) {
        files.endTurn();
      }
      Spans.exit(span, null);
    }

    @Override
    public void failed() {
      Redirection.use(outer);
      end();
      Staged memory = staged;
      if (memory != null) {
        memory.discard();
      }
      ModelFile made = file;
      if (made != null) {
        try {
          made.close();
        } catch (IOException e) {
          // A later run deletes it.
        }
      }
    }
  }
}
