package io.coordl.dl4j;

import io.coordl.bridge.LibraryCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.cache.DecodedForm;
import io.coordl.cache.DecodedItem;
import io.coordl.cache.DecodedStore;
import io.coordl.pipeline.ItemPrefetcher;
import io.coordl.pipeline.PeekingIterator;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * {@code prefetch=N} in DL4J: the files of an image reader's pass, whose order its split has fixed
 * when the pass begins, are brought ahead. DL4J prepares batches ahead itself, on one thread; with
 * this, that thread finds its items.
 */
public final class Prefetch implements LibraryHooks {
  /** Splits of the library whose iterators only walk through a list; others may be lazy. */
  private static final Set<String> SPLITS =
      Set.of(
          "org.datavec.api.split.FileSplit",
          "org.datavec.api.split.CollectionInputSplit",
          "org.datavec.api.split.NumberedFileInputSplit");

  private static final String WALK = "org.datavec.api.util.files.FileFromPathIterator";

  private static final String LOADER = "org.datavec.image.loader.NativeImageLoader";

  private final Services services;
  private final @Nullable ItemPrefetcher items;
  private final Field iterator;
  private final Field split;
  private final Field imageLoader;
  private volatile @Nullable MatrixAnswers matrices;

  /**
   * Answers for the reader class.
   *
   * @throws ReflectiveOperationException if the library is not the one this was compiled against
   */
  public Prefetch(Class<?> reader, Services services) throws ReflectiveOperationException {
    this.services = services;
    items = services.items();
    iterator = Symbols.field(reader, "iter");
    split = Symbols.field(reader, "inputSplit");
    imageLoader = Symbols.field(reader, "imageLoader");
  }

  /** Looks ahead from the first record of a pass on; never answers. */
  @Override
  public @Nullable LibraryCall enter(
      String answer, Class<?> type, String method, Object self, Object[] arguments) {
    ItemPrefetcher offered = items;
    try {
      if (offered != null
          && iterator.get(self) instanceof Iterator<?> files
          && files.getClass().getName().equals(WALK)
          && split.get(self) != null
          && SPLITS.contains(split.get(self).getClass().getName())) {
        Decoder decoder = decoder(imageLoader.get(self));
        if (offered.isWorthwhile(decoder != null)) {
          iterator.set(self, lookAhead(files, decoder, offered));
        }
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
    return null;
  }

  private static PeekingIterator<?> lookAhead(
      Iterator<?> files, @Nullable Decoder decoder, ItemPrefetcher items) {
    Object pass = new Object(); // Lives as long as the iterator, whose listener holds it.
    return new PeekingIterator<>(
        files,
        ItemPrefetcher.LOOK_AHEAD,
        file -> items.offer(((File) file).getPath(), decoder, pass));
  }

  /** Decodes as {@code loader} will; null if what it makes is not kept. */
  private @Nullable Decoder decoder(@Nullable Object loader) {
    DecodedStore store = services.decoded();
    if (store == null || loader == null || !loader.getClass().getName().equals(LOADER)) {
      return null;
    }
    try {
      MatrixAnswers known = matrices;
      if (known == null) {
        known = new MatrixAnswers(loader.getClass(), services);
        matrices = known;
      }
      long[] shape = known.reasonToLeave(loader).isEmpty() ? known.shape(loader) : null;
      return shape == null
          ? null
          : new Decoder(store, known.form(loader), known.copy(loader), known, shape);
    } catch (ReflectiveOperationException | IOException e) {
      return null; // MatrixAnswers is not in force either, and has said why.
    }
  }

  /** The program's way to decode, with loaders and arrays that no other thread uses. */
  private static final class Decoder implements ItemPrefetcher.Decoder {
    private final DecodedStore store;
    private final DecodedForm form;
    private final Method asMatrixView;
    private final ThreadLocal<Object> loader;
    private final ThreadLocal<INDArray> target;

    Decoder(
        DecodedStore store, DecodedForm form, Object model, MatrixAnswers matrices, long[] shape)
        throws NoSuchMethodException {
      this.store = store;
      this.form = form;
      asMatrixView = model.getClass().getMethod("asMatrixView", File.class, INDArray.class);
      loader = ThreadLocal.withInitial(() -> copy(matrices, model));
      target = ThreadLocal.withInitial(() -> Nd4j.createUninitialized(DataType.FLOAT, shape, 'c'));
    }

    private static Object copy(MatrixAnswers matrices, Object model) {
      try {
        return matrices.copy(model);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public boolean isKept(String path) {
      DecodedItem item = store.item(path);
      return item != null && item.isKept(form);
    }

    @Override
    public boolean decode(String path) throws ReflectiveOperationException {
      asMatrixView.invoke(loader.get(), new File(path), target.get());
      return isKept(path);
    }
  }
}
