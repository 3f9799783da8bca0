package io.coordl.checkpoint;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One save of a model, by {@link ModelFiles#save}, or by a library that opens the file itself: its
 * stream leads to the file, or to memory from which the file is written in the background. Closing
 * it without {@link #end} leaves the old file in place. Used by one thread.
 */
public final class Saving implements Closeable {
  private final ModelFiles files;
  private final long start = System.nanoTime();

  /** Whether it is this thread's turn to have its file written in the background. */
  private final boolean later;

  private @Nullable ModelFile file;
  private @Nullable Staged staged;
  private boolean handedOver;

  Saving(ModelFiles files) {
    this.files = files;
    this.later = files.beginTurn();
  }

  /** Creates the file that takes the place of {@code target}; false if the library has to. */
  boolean create(Path target) {
    file = files.create(target);
    return file != null;
  }

  public boolean isOpen() {
    return file != null;
  }

  /** The stream to write the model to; null if the library has to open the file. */
  public @Nullable OutputStream open(Path target) {
    if (!create(target)) {
      return null;
    }
    OutputStream stream = made().stream();
    staged = later ? new Staged(files.memory(), stream) : null;
    return staged == null ? stream : staged;
  }

  private ModelFile made() {
    return Objects.requireNonNull(file);
  }

  /** Saves this content: in the background if a snapshot can be taken, otherwise at once. */
  ModelFiles.Pending write(ModelFiles.Content content) throws IOException {
    ModelFiles.Content snapshot = later ? content.snapshot() : null;
    ModelFiles.Pending saved;
    if (snapshot == null) {
      files.write(made(), content, System.nanoTime());
      saved = new ModelFiles.Pending(made(), true);
    } else {
      saved = persist(snapshot);
    }
    files.raise();
    return saved;
  }

  /**
   * The library has written everything.
   *
   * @throws IOException from this file, or from an earlier one in the background
   */
  public void end() throws IOException {
    Staged memory = staged;
    if (file != null) {
      if (memory == null || memory.isFlushed()) {
        files.write(made(), written -> {}, start);
      } else {
        persist(memory::writeTo);
      }
      files.raise();
    }
  }

  private ModelFiles.Pending persist(ModelFiles.Content content) {
    ModelFiles.Pending pending = files.persist(made(), content);
    handedOver = true;
    return pending;
  }

  @Override
  public void close() throws IOException {
    if (later) {
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
