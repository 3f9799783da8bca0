package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.util.RandomUtils;
import io.coordl.bridge.Bridge;
import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.pipeline.PictureBatches;
import io.coordl.pipeline.Prefetcher;
import io.coordl.pipeline.Services;
import io.coordl.telemetry.log.OnceLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Batches of pictures that are cropped and resized at random. First, all random numbers of the
 * batch are drawn in the program's order. Then the pixels of its samples are computed, by several
 * threads with {@code prefetch=N}: in plain Java in main memory, by the engine on a device.
 *
 * <p><b>The same batch.</b> The transforms' own code draws, over pictures without pixels ({@link
 * ShapeOnly}). The pixels come from the engine, or from Java code that gives the same bits ({@link
 * ResamplerCheck}). In each of the first batches, one sample is compared with the program's own. If
 * anything differs or fails, the generator is restored and the program's own call prepares the
 * batch.
 */
public final class AugmentedBatches implements LibraryHooks {
  private static final String PYTORCH = "PyTorch";

  private final IterableFields fields = new IterableFields();

  /** Null if the program's own calls prepare all batches. */
  private final @Nullable ForkableRandom random;

  private final @Nullable Prefetcher prefetcher;
  private final SampleStack stack;
  private final PictureBatches counts;
  private final OnceLog log;

  /** At most one for each data set. */
  private final List<PicturePipeline> pipelines = new ArrayList<>();

  private final Queue<Resampler> resamplers = new ConcurrentLinkedQueue<>();

  /** Whether {@link Resampler} gives the same bits as this engine; null until compared. */
  private @Nullable Boolean agrees;

  public AugmentedBatches(Class<?> dataIterable, Services services)
      throws ReflectiveOperationException {
    PictureBatches wanted = services.pictures();
    random =
        wanted != null && RandomUtils.RANDOM instanceof ForkableRandom forkable ? forkable : null;
    prefetcher = services.prefetcher();
    stack = new SampleStack(services.pinned(), services.prefetcher());
    counts = Objects.requireNonNullElseGet(wanted, PictureBatches::new);
    log = new OnceLog(services.log());
  }

  @Override
  @SuppressWarnings("unchecked") // The argument types of DataIterable.fetch.
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    ForkableRandom generator = random;
    if (generator == null
        || self.getClass() != DataIterable.class
        || !(arguments[0] instanceof List<?> indices)
        || indices.isEmpty()
        || Thread.currentThread().isInterrupted()) {
      return null;
    }
    DataIterable iterable = (DataIterable) self;
    PicturePipeline pipeline = isSupported(iterable) ? pipeline(iterable) : null;
    if (pipeline == null || pipeline.isLeftToProgram()) {
      return null;
    }
    long span = Spans.enter(SpanKind.BATCH, iterable);
    Batch batch = make(generator, iterable, pipeline, (List<Long>) indices, (Integer) arguments[1]);
    Spans.exit(span, batch);
    return batch == null ? null : new InterceptedCall(batch);
  }

  private boolean isSupported(DataIterable iterable) {
    NDManager manager = fields.manager.require(iterable);
    Device pinned = fields.device.get(iterable);
    return manager.isOpen() // Else the program's own call reports that.
        && isPyTorch(manager)
        && (pinned == null || pinned.equals(manager.getDevice()))
        && PicturePipeline.isOfLibrary(fields.dataset.require(iterable), manager.getDevice())
        && FixedPipeline.Copies.isPlain(fields.pipeline.get(iterable))
        && new IterablePipeline(iterable, fields, null).isOnlyStacked();
  }

  /** Whether a manager's engine is PyTorch; a manager may have no engine. */
  @SuppressWarnings("ConstantValue")
  private static boolean isPyTorch(NDManager manager) {
    return manager.getEngine() != null && manager.getEngine().getEngineName().equals(PYTORCH);
  }

  private synchronized @Nullable PicturePipeline pipeline(DataIterable iterable) {
    for (PicturePipeline known : pipelines) {
      if (known.isOf(iterable, fields)) {
        return known;
      }
    }
    RandomAccessDataset dataset = fields.dataset.require(iterable);
    pipelines.removeIf(one -> one.isOf(dataset) || one.isGone());
    try {
      PicturePipeline made = PicturePipeline.of(iterable, fields);
      if (made != null) {
        pipelines.add(made);
      }
      return made;
    } catch (RuntimeException e) {
      return null; // The program's own call reports what the engine lacks.
    }
  }

  private synchronized boolean agrees(Engine engine) {
    Boolean known = agrees;
    if (known == null) {
      agrees = false; // Stays so if the comparison throws.
      known = ResamplerCheck.agrees(engine);
      agrees = known;
    }
    return known;
  }

  private @Nullable Batch make(
      ForkableRandom generator,
      DataIterable iterable,
      PicturePipeline pipeline,
      List<Long> indices,
      int progress) {
    NDManager manager = fields.manager.require(iterable);
    boolean onHost = Device.cpu().equals(manager.getDevice());
    try {
      if (onHost && !agrees(manager.getEngine())) {
        return null;
      }
    } catch (RuntimeException e) {
      return null; // The program's own call reports what the engine lacks.
    }
    AugmentedBatch batch =
        new AugmentedBatch(
            iterable, fields, pipeline, indices, generator, prefetcher, stack, resamplers);
    try {
      if (!batch.tryMake(onHost)) {
        return null;
      }
      counts.made(batch.threads());
      return batch.take(progress);
    } catch (AugmentedBatch.LeftToProgramException e) {
      pipeline.leave();
      if (e.getMessage() != null) {
        log.once(e.getMessage());
      }
      return null;
    } catch (RuntimeException | LinkageError e) {
      pipeline.leave();
      Bridge.fault("making a batch of pictures", e);
      return null;
    } finally {
      batch.close();
    }
  }
}
