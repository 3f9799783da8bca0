package io.coordl.djl;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import io.coordl.bridge.LibraryCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import io.coordl.profile.Batches;
import io.coordl.profile.Profile;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * {@code profile=}: the batches that a DJL program gets from its iterators, whatever class they
 * are, and the threads of {@code DataIterable} that prepare them.
 */
public final class ProfiledBatches implements LibraryHooks, Batches {
  private final Profile profile;
  private final Field dataBatchifier;
  private final Field labelBatchifier;
  private final Field batchManager;

  /**
   * Answers for one loader of DJL.
   *
   * @throws ReflectiveOperationException if the library is not the one this was compiled against
   */
  public ProfiledBatches(Class<?> declaring, Services services)
      throws ReflectiveOperationException {
    BatchFrame.require();
    Symbols.require(NDManager.class, boolean.class, "isOpen");
    Symbols.require(Batch.class, NDManager.class, "getManager");
    profile = Objects.requireNonNull(services.profile());
    dataBatchifier = Symbols.field(Batch.class, "dataBatchifier", Batchifier.class);
    labelBatchifier = Symbols.field(Batch.class, "labelBatchifier", Batchifier.class);
    batchManager = Symbols.field(Batch.class, "manager", NDManager.class);
  }

  @Override
  public @Nullable LibraryCall enter(
      String answer, Class<?> type, String method, Object self, Object[] arguments) {
    return method.equals("call") ? profile.prepare() : profile.enter(this, self);
  }

  @Override
  public int samples(Object batch) {
    return Math.max(1, ((Batch) batch).getSize());
  }

  /** {@code DataIterable.hasNext} closes the manager of its batches when it has no more of them. */
  @Override
  public void hold(Object batch) {
    Batch held = (Batch) batch;
    NDManager before = held.getManager();
    NDManager own = before.getEngine().newBaseManager(before.getDevice());
    held.getData().attach(own);
    held.getLabels().attach(own);
    try {
      batchManager.set(held, own);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e); // It was made accessible.
    }
    before.close();
  }

  @Override
  public void drop(Object batch) {
    ((Batch) batch).close();
  }

  @Override
  public Kept keep(Object batch) {
    try {
      BatchArrays arrays = BatchArrays.view((Batch) batch);
      ByteBuffer bytes = ByteBuffer.allocateDirect(Math.toIntExact(arrays.bytes()));
      arrays.writeTo(bytes);
      Batch like = (Batch) batch;
      return new KeptBatch(like.getManager().getParentManager(), frame(like), bytes);
    } catch (CannotShareException | ArithmeticException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /** What else a batch has than its arrays. */
  private BatchFrame frame(Batch batch) {
    try {
      return new BatchFrame(
          batch.getSize(),
          (Batchifier) dataBatchifier.get(batch),
          (Batchifier) labelBatchifier.get(batch),
          batch.getProgress(),
          batch.getProgressTotal(),
          batch.getIndices(),
          null);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e); // They were made accessible.
    }
  }

  /** The bytes of a batch, and what else it has. Refers to no array of the program. */
  private record KeptBatch(NDManager parent, BatchFrame frame, ByteBuffer bytes) implements Kept {
    @Override
    public int samples() {
      return Math.max(1, frame.size());
    }

    @Override
    public Object make() throws IOException {
      // At the end of its epoch DJL closes what the batches of it belong to.
      NDManager manager =
          parent.isOpen()
              ? parent.newSubManager()
              : parent.getEngine().newBaseManager(parent.getDevice());
      return frame.make(manager, bytes);
    }
  }
}
