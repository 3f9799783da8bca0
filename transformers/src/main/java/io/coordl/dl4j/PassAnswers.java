package io.coordl.dl4j;

import io.coordl.bridge.LibraryCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.Services;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * {@code next(int)} and {@code reset()} of {@code RecordReaderDataSetIterator}, {@code
 * SequenceRecordReaderDataSetIterator} and {@code RecordReaderMultiDataSetIterator}: passes over
 * the library's readers are shared. Other readers are left alone, and that is said once.
 */
public final class PassAnswers implements LibraryHooks {
  private final Class<?> declaring;
  private final Services services;
  private final Consumer<String> leave;
  private @Nullable Passes passes;
  private boolean unfit;

  /**
   * Answers for both classes of iterators.
   *
   * @param declaring the iterator of several arrays
   */
  public PassAnswers(Class<?> declaring, Services services) {
    this.declaring = declaring;
    this.services = services;
    Set<String> said = ConcurrentHashMap.newKeySet();
    this.leave =
        what -> {
          if (said.add(what)) {
            services.words().accept("prep=coordinate leaves " + what + " to DL4J.");
          }
        };
  }

  @Override
  public @Nullable LibraryCall enter(
      String answer, Class<?> type, String method, Object self, Object[] arguments) {
    Passes shared = passes();
    if (shared == null) {
      return null;
    }
    try {
      if (method.equals("reset")) {
        shared.reset(self);
        return null;
      }
      Object batch = shared.next(self, (Integer) arguments[0]);
      return batch == null ? null : new Call(batch);
    } catch (ReflectiveOperationException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private synchronized @Nullable Passes passes() {
    if (passes == null && !unfit) {
      try {
        passes = new Passes(declaring, services, leave);
      } catch (ReflectiveOperationException | IOException | RuntimeException | LinkageError e) {
        unfit = true;
        leave.accept("iterators that are not as expected (" + e + ")");
      }
    }
    return passes;
  }

  /** A batch that was made in the call's stead. */
  private static final class Call extends LibraryCall {
    private final Object batch;

    Call(Object batch) {
      this.batch = batch;
    }

    @Override
    public boolean answered() {
      return true;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      return batch;
    }
  }
}
