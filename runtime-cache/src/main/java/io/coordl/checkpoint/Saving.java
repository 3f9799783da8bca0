package io.coordl.checkpoint;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One save of a model, by {@link ModelFiles#save} or by a library that writes to the stream that
 * {@link #open} returns. That stream writes to the file, or to memory that is written to the file
 * in the background. Closing this before {@link #write} or {@link #end} leaves the old file in
 * place. Used by one thread.
 */
public final class Saving implements Closeable {
  private final ModelFiles files;
  private final long start = System.nanoTime();

  /** Whether this save may take a snapshot and write the file in the background. */
  private final boolean background;

  private @Nullable ModelFile file;
  private @Nullable Staged staged;
  private boolean handedOver;

  Saving(ModelFiles files) {
    this.files = files;
    this.background = files.beginTurn();
  }

  /**
   * Creates the file that will replace {@code target}; returns false if the library must write it.
   */
  boolean create(Path target) {
    file = files.create(target);
    return file != null;
  }

  public boolean isOpen() {
    return file != null;
  }

  /** Returns the stream to write the model to; null if the library must open the file itself. */
  public @Nullable OutputStream open(Path target) {
    if (!create(target)) {
      return null;
    }
    OutputStream stream = requireFile().stream();
    staged = background ? new Staged(files.memory(), stream) : null;
    return staged == null ? stream : staged;
  }

  private ModelFile requireFile() {
    return Objects.requireNonNull(file);
  }

  /** Saves {@code content}: in the background if a snapshot can be taken, otherwise immediately. */
  ModelFiles.Pending write(ModelFiles.Content content) throws IOException {
    ModelFiles.Content snapshot = background ? content.snapshot() : null;
    ModelFiles.Pending saved;
    if (snapshot == null) {
      files.write(requireFile(), content, System.nanoTime());
      saved = new ModelFiles.Pending(requireFile(), true);
    } else {
      saved = persist(snapshot);
    }
    files.raise();
    return saved;
  }

  /**
   * Called when the library has written everything.
   *
   * @throws IOException if this save failed, or an earlier one in the background
   */
  public void end() throws IOException {
    Staged memory = staged;
    if (file != null) {
      if (memory == null || memory.isFlushed()) {
        files.write(requireFile(), written -> {}, start);
      } else {
        persist(memory::writeTo);
      }
      files.raise();
    }
  }

  private ModelFiles.Pending persist(ModelFiles.Content content) {
    ModelFiles.Pending pending = files.persist(requireFile(), content);
    handedOver = true;
    return pending;
  }

  @Override
  public void close() throws IOException {
    if (background) {
      files.endTurn();
    }
    if (!handedOver) {
      if (staged != null) {
        staged.discard();
      }
      if (file != null) {
        file.close();
      }
    }
  }
}
