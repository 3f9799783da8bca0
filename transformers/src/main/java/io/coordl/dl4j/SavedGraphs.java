package io.coordl.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.checkpoint.ModelFile;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.InvalidPathException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.nd4j.autodiff.execution.conf.ExecutorConfiguration;
import org.nd4j.autodiff.samediff.SameDiff;

/** {@code SameDiff}: what the library would write as one array of bytes. */
public final class SavedGraphs implements LibraryHooks {
  private final ModelFiles files;

  /** For the loader of a library that fits. */
  public SavedGraphs(Class<?> declaring, Services services) throws NoSuchMethodException {
    Symbols.require(SameDiff.class, ByteBuffer.class, "asFlatBuffers", boolean.class);
    Symbols.require(
        SameDiff.class,
        ByteBuffer.class,
        "asFlatBuffers",
        ExecutorConfiguration.class,
        boolean.class);
    this.files = Objects.requireNonNull(services.models());
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (!(arguments[0] instanceof File target)) {
      return null;
    }
    try {
      if (!method.equals("asFlatFile")) {
        files.check(ModelFiles.path(target));
        return null;
      }
      long span = Spans.enter(SpanKind.CHECKPOINT, self);
      try {
        return save((SameDiff) self, target, arguments);
      } finally {
        Spans.exit(span, null);
      }
    } catch (InvalidPathException e) {
      return null;
    } catch (IOException e) {
      return InterceptedCall.throwing(e);
    }
  }

  private @Nullable InterceptedCall save(SameDiff graph, File target, Object[] arguments)
      throws IOException {
    boolean later = files.beginTurn();
    try {
      ModelFile file = files.create(ModelFiles.path(target));
      if (file == null) {
        return null;
      }
      write(file, graph, arguments, later);
      files.raise();
      return new InterceptedCall(true);
    } finally {
      if (later) {
        files.endTurn();
      }
    }
  }

  private void write(ModelFile file, SameDiff graph, Object[] arguments, boolean later)
      throws IOException {
    try {
      ByteBuffer bytes =
          arguments.length == 2
              ? graph.asFlatBuffers((boolean) arguments[1])
              : graph.asFlatBuffers((ExecutorConfiguration) arguments[1], (boolean) arguments[2]);
      byte[] array = bytes.array();
      int from = bytes.arrayOffset() + bytes.position();
      ModelFiles.Content content = out -> out.write(array, from, array.length - from);
      if (later && files.stage(array.length)) {
        files.persist(
            file,
            out -> {
              try {
                content.writeTo(out);
              } finally {
                files.unstage(array.length);
              }
            });
      } else {
        files.write(file, content);
        file.close();
      }
    } catch (Throwable t) {
      file.close();
      throw t;
    }
  }
}
