package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.CheckedSamples;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.dataset.DataSet;

/**
 * {@code prepared=check} in DL4J: computes a checksum of each batch that the program's own call of
 * {@code next(int)} has returned, unless that batch was compared in an earlier epoch. The first
 * batch after {@code reset()} is compared with the first batch of an earlier epoch, and so on.
 */
public final class CheckedBatches implements LibraryHooks {
  private final CheckedSamples checked;

  /** Whether the agent itself may prepare batches. */
  private final boolean agentPrepares;

  public CheckedBatches(Class<?> declaring, Services services) throws ReflectiveOperationException {
    Symbols.field(DataSet.class, "columnNames", List.class);
    Symbols.require(BatchBytes.class, Memory.class);
    checked = Objects.requireNonNull(services.checked());
    agentPrepares = services.prefetcher() != null || services.group() != null;
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (method.equals("reset")) {
      CheckedSamples.Units units = checked.find(self);
      if (units != null) {
        units.reset();
      }
      return null;
    }
    if (!checked.tryBegin()) {
      return null; // A part of the batch that another iterator prepares.
    }
    return new InterceptedCall(null) {
      @Override
      public @Nullable Object result(@Nullable Object own) {
        checked.end();
        if (own != null) {
          check(self, own);
        }
        return own;
      }

      @Override
      public void failed() {
        checked.end();
      }
    };
  }

  private void check(Object iterator, Object batch) {
    CheckedSamples.Units units = checked.of(iterator, iterator, "batches");
    if (units == null) {
      return;
    }
    if (agentPrepares) {
      units.leave("the agent prepares some of its batches"); // Their numbers would be wrong.
      return;
    }
    long number = units.next();
    if (!units.wants(number)) {
      return;
    }
    BatchBytes bytes = BatchBytes.toKeep(batch, List.of(), false);
    if (bytes == null || bytes.bytes() > Integer.MAX_VALUE) {
      units.leave("its batches are more than arrays of numbers");
      return;
    }
    units.made(number, bytes.checksum());
  }
}
