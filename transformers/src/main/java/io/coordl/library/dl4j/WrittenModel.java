package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.checkpoint.Captured;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.checkpoint.NoRoomException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.util.ModelSerializer;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.dataset.api.preprocessor.DataNormalization;

/**
 * The output of {@code ModelSerializer} for a model. A snapshot is this output with gaps in place
 * of the arrays, which are copied ({@link WrittenArrays}) and fill the gaps later.
 */
final class WrittenModel implements ModelFiles.Content {
  private final Model model;
  private final boolean updater;
  private final @Nullable DataNormalization normalizer;
  private @Nullable Throwable failure;

  WrittenModel(Model model, boolean updater, @Nullable DataNormalization normalizer) {
    this.model = model;
    this.updater = updater;
    this.normalizer = normalizer;
  }

  @Override
  public void writeTo(OutputStream out) throws IOException {
    try {
      ModelSerializer.writeModel(model, out, updater, normalizer);
    } catch (Throwable t) {
      failure = t;
      throw t;
    }
  }

  @Override
  public ModelFiles.@Nullable Content snapshot() throws IOException {
    Captured captured = new Captured();
    try {
      captured.capture(this);
    } catch (NoRoomException e) {
      return null;
    }
    byte[] bytes = captured.bytes();
    return out -> zip(captured, bytes, out);
  }

  private static void zip(Captured captured, byte[] bytes, OutputStream out) throws IOException {
    ZipInputStream in = new ZipInputStream(new ByteArrayInputStream(bytes));
    ZipOutputStream zip = new ZipOutputStream(out);
    for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
      ZipEntry same = new ZipEntry(entry.getName());
      same.setTime(entry.getTime());
      zip.putNextEntry(same);
      captured.fill(in.readAllBytes(), zip);
    }
    zip.finish();
    captured.requireFilled();
  }

  /**
   * Handles a failure. The program gets exceptions of the library and failures to write; after any
   * other failure, the program's own call runs.
   */
  InterceptedCall thrown(Throwable t) {
    if (t == failure || t instanceof IOException) {
      return InterceptedCall.throwing(t);
    }
    if (t instanceof Error error) {
      throw error;
    }
    throw new IllegalStateException(t);
  }
}
