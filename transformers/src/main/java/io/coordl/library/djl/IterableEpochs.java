package io.coordl.library.djl;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.PolicyHooks;
import io.coordl.pipeline.Services;
import org.jspecify.annotations.Nullable;

/** Combines the policies for {@code DataIterable}'s batches in one interceptor. */
public final class IterableEpochs implements LibraryHooks {
  private final PolicyHooks policies;

  public IterableEpochs(Class<?> dataIterable, Services services)
      throws ReflectiveOperationException {
    policies =
        new PolicyHooks(
            services.prefetcher() == null ? null : new Prefetch(dataIterable, services),
            services.group() == null ? null : new CoordinatedBatches(dataIterable, services),
            services.prepared() == null ? null : new PreparedBatches(dataIterable, services));
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    return policies.enter(interceptor, type, method, self, arguments);
  }
}
