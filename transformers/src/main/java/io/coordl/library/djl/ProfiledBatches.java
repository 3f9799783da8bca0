package io.coordl.library.djl;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.KeptBatch;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import io.coordl.profile.Batches;
import io.coordl.profile.Profile;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * {@code profile=}: the batches that a DJL program gets from its iterators, whatever class they
 * are, and the threads of {@code DataIterable} that prepare them.
 */
public final class ProfiledBatches implements LibraryHooks, Batches {
  private final Profile profile;
  private final LibraryField<Batchifier> dataBatchifier =
      LibraryField.of(Batch.class, "dataBatchifier", Batchifier.class);
  private final LibraryField<Batchifier> labelBatchifier =
      LibraryField.of(Batch.class, "labelBatchifier", Batchifier.class);
  private final LibraryField<NDManager> batchManager =
      LibraryField.of(Batch.class, "manager", NDManager.class);

  public ProfiledBatches(Class<?> declaring, Services services)
      throws ReflectiveOperationException {
    Symbols.require(ProfiledBatches.class, BatchFrame.class, BatchArrays.class);
    profile = Objects.requireNonNull(services.profile());
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    return method.equals("call") ? profile.prepare() : profile.enter(this, self);
  }

  @Override
  public int samples(Object batch) {
    return Math.max(1, ((Batch) batch).getSize());
  }

  /** {@code DataIterable.hasNext} closes the manager of its batches at the end of the epoch. */
  @Override
  public void hold(Object batch) {
    Batch held = (Batch) batch;
    NDManager before = held.getManager();
    NDManager own = before.getEngine().newBaseManager(before.getDevice());
    held.getData().attach(own);
    held.getLabels().attach(own);
    batchManager.set(held, own);
    before.close();
  }

  @Override
  public void drop(Object batch) {
    ((Batch) batch).close();
  }

  @Override
  public Kept keep(Object batch) {
    Batch like = (Batch) batch;
    BatchFrame frame =
        new BatchFrame(
            like.getSize(),
            dataBatchifier.get(like),
            labelBatchifier.get(like),
            like.getProgress(),
            like.getProgressTotal(),
            like.getIndices(),
            null);
    NDManager parent = like.getManager().getParentManager();
    try {
      return KeptBatch.of(
          samples(batch), BatchArrays.view(like), bytes -> frame.make(below(parent), bytes));
    } catch (CannotShareException | ArithmeticException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /** DJL closes the parent manager of an epoch's batches at its end. */
  private static NDManager below(NDManager parent) {
    return parent.isOpen()
        ? parent.newSubManager()
        : parent.getEngine().newBaseManager(parent.getDevice());
  }
}
