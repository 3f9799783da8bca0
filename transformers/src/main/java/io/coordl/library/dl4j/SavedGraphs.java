package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.nd4j.autodiff.execution.conf.ExecutorConfiguration;
import org.nd4j.autodiff.samediff.SameDiff;

/**
 * Intercepts {@code SameDiff}: writes graphs that it saves to files, and checks files before it
 * loads them.
 */
public final class SavedGraphs implements LibraryHooks {
  private final ModelFiles files;

  public SavedGraphs(Class<?> declaring, Services services) throws ReflectiveOperationException {
    Symbols.require(SavedGraphs.class);
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
        Path file = ModelFiles.path(target);
        Graph graph = new Graph((SameDiff) self, arguments);
        return files.save(file, graph) == null ? null : new InterceptedCall(true);
      } finally {
        Spans.exit(span, null);
      }
    } catch (InvalidPathException e) {
      return null;
    } catch (IOException e) {
      return InterceptedCall.throwing(e);
    }
  }

  private final class Graph implements ModelFiles.Content {
    private final SameDiff graph;
    private final Object[] arguments;

    Graph(SameDiff graph, Object[] arguments) {
      this.graph = graph;
      this.arguments = arguments;
    }

    private ByteBuffer bytes() throws IOException {
      return arguments.length == 2
          ? graph.asFlatBuffers((boolean) arguments[1])
          : graph.asFlatBuffers((ExecutorConfiguration) arguments[1], (boolean) arguments[2]);
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
      write(bytes(), out);
    }

    /** Returns a copy of the graph's bytes, held until it is written. */
    @Override
    public ModelFiles.@Nullable Content snapshot() throws IOException {
      ByteBuffer copy = bytes();
      int size = copy.capacity();
      if (!files.memory().take(size)) {
        return null;
      }
      return out -> {
        try {
          write(copy, out);
        } finally {
          files.memory().give(size);
        }
      };
    }
  }

  private static void write(ByteBuffer bytes, OutputStream out) throws IOException {
    byte[] array = bytes.array();
    int from = bytes.arrayOffset() + bytes.position();
    out.write(array, from, array.length - from);
  }
}
