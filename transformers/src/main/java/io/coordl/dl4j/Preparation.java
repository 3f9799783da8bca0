package io.coordl.dl4j;

import io.coordl.staging.BatchSource;
import io.coordl.staging.NotPreparedException;
import io.coordl.staging.PreparedBatch;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.nd4j.linalg.api.memory.MemoryWorkspace;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Makes batches of one pass on threads of the agent. Refers to nothing of the program that refers
 * to the pass, so that a pass the program has dropped is noticed.
 */
final class Preparation implements BatchSource {
  private final Pipeline pipeline;
  private final Consumer<String> words;
  private final Integer device = Nd4j.getAffinityManager().getDeviceForCurrentThread();
  private final Scopes scopes = new Scopes();
  private final AtomicBoolean refused = new AtomicBoolean();

  /** By a thread of the program: its device is where arrays belong. */
  Preparation(Pipeline pipeline, Consumer<String> words) {
    this.pipeline = pipeline;
    this.words = words;
  }

  @Override
  public PreparedBatch prepare(int batch, int[] items) throws Exception {
    Nd4j.getAffinityManager().unsafeSetDevice(device);
    MemoryWorkspace scope = scopes.enter();
    try {
      return new Prepared(bytesOf(make(batch)), scope);
    } catch (Throwable t) {
      scopes.leave(scope);
      throw t;
    }
  }

  private Object make(int batch) throws NotPreparedException {
    try {
      return pipeline.make(batch);
    } catch (Exception e) {
      throw new NotPreparedException(e);
    }
  }

  private BatchBytes bytesOf(Object batch) throws NotPreparedException {
    try {
      return new BatchBytes(batch);
    } catch (IllegalArgumentException e) {
      if (!refused.getAndSet(true)) {
        words.accept(
            "prep=coordinate cannot share a batch: "
                + e.getMessage()
                + ". This job prepares its own.");
      }
      throw new NotPreparedException(e);
    }
  }

  /** Frees what this pass stands on. */
  void end() {
    scopes.end();
  }

  /** A batch whose arrays live as long as its scope. */
  private final class Prepared implements PreparedBatch {
    private final BatchBytes batch;
    private final MemoryWorkspace scope;

    Prepared(BatchBytes batch, MemoryWorkspace scope) {
      this.batch = batch;
      this.scope = scope;
    }

    @Override
    public long bytes() {
      return batch.bytes();
    }

    @Override
    public void writeTo(ByteBuffer target) {
      batch.writeTo(target);
    }

    @Override
    public void close() {
      scopes.leave(scope);
    }
  }
}
