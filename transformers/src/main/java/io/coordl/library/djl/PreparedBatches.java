package io.coordl.library.djl;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.util.RandomUtils;
import io.coordl.bridge.Bridge;
import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.pipeline.PreparedSamples;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import io.coordl.purity.PurityAnalyzer;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code prepared=share} in DJL: when a {@link DataIterable} fetches a batch, on any thread, it
 * fetches from the agent's data set, which returns cached samples, and applies the remaining
 * transforms. Ignores subclasses, which may fetch in other ways.
 */
public final class PreparedBatches implements LibraryHooks {
  /** Index lists that run no code of the program when an index is read. */
  private static final Set<String> LISTS =
      Set.of(
          ("java.util.ArrayList java.util.ArrayList$SubList java.util.Arrays$ArrayList"
                  + " java.util.LinkedList java.util.ImmutableCollections$List12"
                  + " java.util.ImmutableCollections$ListN java.util.Collections$SingletonList")
              .split(" "));

  private final IterableFields fields = new IterableFields();
  private final Tables tables = new Tables();
  private final SampleStack stack;
  private final @Nullable PreparedSamples samples;

  public PreparedBatches(Class<?> dataIterable, Services services)
      throws ReflectiveOperationException {
    Symbols.require(
        PreparedBatches.class,
        PreparedDataset.class,
        IterablePipeline.class,
        BatchFrame.class,
        BatchArrays.class,
        SampleStack.class);
    stack = new SampleStack(services.pinned(), services.prefetcher());
    if (RandomUtils.RANDOM instanceof ForkableRandom) {
      samples =
          new PreparedSamples(
              services,
              new PurityAnalyzer(
                  KnownDjl.PREFIX,
                  new KnownDjl(true),
                  Objects.requireNonNull(services.prepared())::trusts));
    } else {
      samples = null;
      services
          .log()
          .say(
              PreparedSamples.leavesMessage(
                  "samples", "DJL created its random generator before the agent started"));
    }
  }

  /** Whether reading an index of this list runs no code of the program. */
  static boolean isPlain(Object indices) {
    return LISTS.contains(indices.getClass().getName());
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    PreparedSamples kept = samples;
    if (kept == null) {
      return null;
    }
    if (method.equals("prepare")) {
      return prepare(kept, self);
    }
    return self.getClass() == DataIterable.class
        ? fetch(kept, (DataIterable) self, arguments)
        : null;
  }

  /** Stacks a batch directly from the bytes of its samples; returns null if that is impossible. */
  private @Nullable Batch stacked(
      PreparedSamples kept,
      PreparedSamples.Plan plan,
      IterablePipeline pipeline,
      List<Long> indices,
      int progress) {
    if (!pipeline.isStacked(plan)) {
      return null;
    }
    long span = Spans.enter(SpanKind.BATCH, pipeline.iterable());
    Batch batch = null;
    try {
      batch =
          kept.batch(plan, indices, samples -> pipeline.stack(samples, stack, indices, progress));
    } catch (IOException | RuntimeException e) {
      Bridge.fault("stacking prepared samples", e);
    } finally {
      Spans.exit(span, batch);
    }
    return batch;
  }

  /** Handles the preparation of a data set, which may change its samples and those of others. */
  private InterceptedCall prepare(PreparedSamples kept, Object dataset) {
    Object file = tables.fileState(dataset);
    if (file != null && tables.isPrepared(dataset, file)) {
      return new InterceptedCall(file); // The method returns nothing.
    }
    kept.changed();
    return InterceptedCall.after(
        own -> {
          kept.changed();
          if (file != null) {
            tables.prepared(dataset, file);
          }
          return own;
        });
  }

  @SuppressWarnings("unchecked") // The argument types of DataIterable.fetch.
  private @Nullable InterceptedCall fetch(
      PreparedSamples kept, DataIterable iterable, Object[] arguments) {
    // If the program has closed the manager, its own call reports that.
    if (fields.dataset.get(iterable) instanceof PreparedDataset
        || !isPlain(arguments[0])
        || !fields.manager.require(iterable).isOpen()
        || !FixedPipeline.Copies.isPlain(fields.pipeline.get(iterable))) {
      return null;
    }
    IterablePipeline pipeline = new IterablePipeline(iterable, fields, tables);
    PreparedSamples.Plan plan = kept.plan(pipeline);
    if (plan == null) {
      return null;
    }
    List<Long> indices = (List<Long>) arguments[0];
    int progress = (Integer) arguments[1];
    Batch batch = stacked(kept, plan, pipeline, indices, progress);
    if (batch != null) {
      return new InterceptedCall(batch);
    }
    DataIterable over = pipeline.over(kept, plan);
    List<Long> missing = missing(kept, plan, pipeline, indices);
    try (NDManager scratch = missing.isEmpty() ? null : pipeline.newBatchManager()) {
      if (scratch != null && fields.dataset.get(over) instanceof PreparedDataset ours) {
        ours.make(scratch, missing);
        batch = stacked(kept, plan, pipeline, indices, progress);
        if (batch != null) {
          return new InterceptedCall(batch);
        }
      }
      long start = System.nanoTime();
      Batch made = fields.fetch(over, indices, progress);
      if (pipeline.isStacked(plan) && fields.dataset.get(over) instanceof PreparedDataset ours) {
        long nanos = System.nanoTime() - start;
        keep(ours, made);
        probe(kept, plan, pipeline, indices, nanos - ours.nanos());
      }
      return new InterceptedCall(made);
    } catch (Exception | Error e) {
      return InterceptedCall.throwing(e); // As the program's own call would.
    }
  }

  /**
   * Returns the samples to prepare so that the batch can be stacked from cached ones; empty if that
   * does not pay off.
   */
  private static List<Long> missing(
      PreparedSamples kept,
      PreparedSamples.Plan plan,
      IterablePipeline pipeline,
      List<Long> indices) {
    if (!pipeline.isStacked(plan) || !pipeline.isOnHost()) {
      return List.of();
    }
    try {
      return kept.missing(plan, indices, indices.size() / 2);
    } catch (IOException e) {
      Bridge.fault("finding prepared samples", e);
      return List.of();
    }
  }

  private static void keep(PreparedDataset samples, Batch batch) {
    try {
      samples.keep(batch);
    } catch (IOException | RuntimeException e) {
      Bridge.fault("keeping prepared samples of a device", e);
    }
  }

  private void probe(
      PreparedSamples kept,
      PreparedSamples.Plan plan,
      IterablePipeline pipeline,
      List<Long> indices,
      long batched) {
    try {
      kept.probe(plan, indices, batched, samples -> pipeline.stack(samples, stack, indices, 0));
    } catch (Exception e) {
      Bridge.fault("stacking prepared samples", e);
    }
  }
}
