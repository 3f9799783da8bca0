package io.coordl.library.djl;

import ai.djl.BaseModel;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.Redirection;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.checkpoint.Resume;
import io.coordl.checkpoint.Saving;
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
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Intercepts {@code Model.save}, and checks the files that {@code Model.load} reads. The library
 * writes either to a temporary file that then replaces the target, or to memory, which is written
 * to the file in the background.
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
          if (resume != null && resume.trySkipSave()) {
            return InterceptedCall.skipping(); // An earlier job has saved it.
          }
          return arguments[0] instanceof Path directory ? new Save(self, directory) : null;
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

  /** Returns the last complete file; called if no particular epoch was requested. */
  private Path lastWhole(Path last) {
    Matcher name = PARAMETERS.matcher(last.getFileName().toString());
    if (last.getFileSystem() != FileSystems.getDefault() || !name.matches()) {
      return last;
    }
    int epoch = Integer.parseInt(name.group(2));
    return files.newestWhole(
        last,
        () ->
            IntStream.iterate(epoch - 1, older -> older >= 0, older -> older - 1)
                .mapToObj(older -> last.resolveSibling(file(name.group(1), older)))
                .filter(Files::exists)
                .iterator(),
        file -> file);
  }

  private static String file(String model, int epoch) {
    return String.format(Locale.ROOT, "%s-%04d.params", model, epoch);
  }

  /**
   * One call of {@code Model.save}; its file is the one that the library creates in the directory.
   */
  private final class Save extends InterceptedCall implements Redirection {
    private final Path directory;
    private final Saving saving = files.begin();
    private final long span;
    private final @Nullable Redirection outer;

    Save(Object model, Path directory) {
      super(null);
      this.directory = directory;
      span = Spans.enter(SpanKind.CHECKPOINT, model);
      outer = Redirection.use(this);
    }

    @Override
    public @Nullable OutputStream open(Path path) {
      return saving.isOpen()
              || !directory.equals(path.getParent())
              || !PARAMETERS.matcher(path.getFileName().toString()).matches()
          ? null
          : saving.open(path);
    }

    @Override
    public @Nullable Throwable thrown() {
      Redirection.use(outer);
      try (saving) {
        saving.end();
      } catch (IOException e) {
        return e;
      } finally {
        Spans.exit(span, null);
      }
      return null;
    }

    @Override
    public void failed() {
      Redirection.use(outer);
      try {
        saving.close();
      } catch (IOException e) {
        // A later run deletes the temporary file.
      }
      Spans.exit(span, null);
    }
  }
}
