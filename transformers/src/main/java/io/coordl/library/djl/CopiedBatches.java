package io.coordl.library.djl;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryBatches;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;

/** Converts DJL's batches to bytes and back. */
public final class CopiedBatches implements LibraryBatches {
  private final BatchSize size = new BatchSize();
  private final LibraryField<Batchifier> dataBatchifier =
      LibraryField.of(Batch.class, "dataBatchifier", Batchifier.class);
  private final LibraryField<Batchifier> labelBatchifier =
      LibraryField.of(Batch.class, "labelBatchifier", Batchifier.class);
  private final LibraryField<NDManager> batchManager =
      LibraryField.of(Batch.class, "manager", NDManager.class);

  public CopiedBatches(Class<?> declaring, Services services) throws ReflectiveOperationException {
    Symbols.require(CopiedBatches.class, BatchFrame.class, BatchArrays.class);
  }

  @Override
  public long samples(Object batch) {
    return size.applyAsLong(batch);
  }

  /**
   * Gives the batch its own manager, because {@code DataIterable.hasNext} closes the manager of its
   * batches at the end of the epoch.
   */
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
  public Bytes bytes(Object batch) {
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
      return new Bytes(BatchArrays.view(like), bytes -> frame.make(newManager(parent), bytes));
    } catch (CannotShareException | ArithmeticException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /**
   * Creates a manager for a batch: a child of the epoch's manager, or an independent one if DJL has
   * closed that manager at the end of the epoch.
   */
  private static NDManager newManager(NDManager parent) {
    return parent.isOpen()
        ? parent.newSubManager()
        : parent.getEngine().newBaseManager(parent.getDevice());
  }
}
