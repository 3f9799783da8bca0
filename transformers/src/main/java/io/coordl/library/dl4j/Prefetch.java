package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.ItemPrefetcher;
import io.coordl.pipeline.KeptItems;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.Services;
import io.coordl.store.DecodedForm;
import java.io.File;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.bytedeco.opencv.opencv_core.Mat;
import org.datavec.image.data.ImageWritable;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.transform.BaseImageTransform;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * {@code prefetch=N} in DL4J: prefetches the files that an image reader reads in an epoch. The
 * reader's split fixes their order when the epoch begins. DL4J itself prefetches batches on one
 * thread, which then finds its items in the store.
 */
public final class Prefetch implements LibraryHooks {
  /** Splits of the library whose iterators only iterate over a list; others may be lazy. */
  private static final Set<String> SPLITS =
      Set.of(
          "org.datavec.api.split.FileSplit",
          "org.datavec.api.split.CollectionInputSplit",
          "org.datavec.api.split.NumberedFileInputSplit");

  private static final String WALK = "org.datavec.api.util.files.FileFromPathIterator";

  private final @Nullable ItemPrefetcher items;
  private final @Nullable KeptItems kept;
  private final LibraryField<Object> iterator;
  private final LibraryField<Object> split;
  private final LibraryField<Object> imageLoader;
  private final @Nullable MatrixInterceptor matrices;

  public Prefetch(Class<?> reader, Services services) throws ReflectiveOperationException {
    items = services.items();
    kept = KeptItems.of(services);
    matrices = kept == null ? null : matrices(services);
    iterator = LibraryField.of(reader, "iter");
    split = LibraryField.of(reader, "inputSplit");
    imageLoader = LibraryField.of(reader, "imageLoader");
  }

  private static @Nullable MatrixInterceptor matrices(Services services) {
    try {
      return new MatrixInterceptor(NativeImageLoader.class, services);
    } catch (ReflectiveOperationException | IOException | LinkageError e) {
      return null; // decoded=share is not active either, and has reported why.
    }
  }

  /** Reads ahead from the first record of an epoch; replaces no call. */
  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    ItemPrefetcher prefetcher = items;
    Object files = iterator.get(self);
    Object source = split.get(self);
    if (prefetcher != null
        && files instanceof Iterator<?> own
        && files.getClass().getName().equals(WALK)
        && source != null
        && SPLITS.contains(source.getClass().getName())) {
      ItemPrefetcher.Decoder decoder = decoder(imageLoader.get(self));
      if (prefetcher.isWorthwhile(decoder != null)) {
        iterator.set(
            self,
            prefetcher.peek(
                own, ItemPrefetcher.WINDOW, file -> List.of(((File) file).getPath()), decoder));
      }
    }
    return null;
  }

  /**
   * Returns a decoder that decodes as {@code loader} does; null if the results are not cached, or
   * their shape depends on the picture.
   */
  private ItemPrefetcher.@Nullable Decoder decoder(@Nullable Object loader) {
    MatrixInterceptor known = matrices;
    if (kept == null || known == null || loader == null || !known.reasonToLeave(loader).isEmpty()) {
      return null;
    }
    if (known.transforms(loader)) {
      DecodedForm form = known.formOfPictures();
      return kept.decoder(() -> form, Prefetch::decodeOnly);
    }
    long[] shape = known.shape(loader);
    DecodedForm form = known.form(loader);
    return shape == null
        ? null
        : kept.decoder(() -> form, decoding(known.copy(loader), known, shape));
  }

  /** Decodes as the program does, with loaders and arrays that no other thread uses. */
  private static KeptItems.Decoding decoding(
      NativeImageLoader model, MatrixInterceptor matrices, long[] shape) {
    ThreadLocal<NativeImageLoader> loader = ThreadLocal.withInitial(() -> matrices.copy(model));
    ThreadLocal<INDArray> target =
        ThreadLocal.withInitial(() -> Nd4j.createUninitialized(DataType.FLOAT, shape, 'c'));
    return path -> loader.get().asMatrixView(new File(path), target.get());
  }

  /**
   * Decodes a picture and stops before the transform; {@link DecodedMats} caches the picture. The
   * loader's dimensions matter only after that.
   */
  private static void decodeOnly(String path) throws IOException {
    try {
      new NativeImageLoader(1, 1, 1, new Decoded()).asMatrix(new File(path), true);
    } catch (DecodedException e) {
      return; // The picture is decoded.
    }
  }

  /** Thrown once a picture is decoded. */
  private static final class DecodedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    DecodedException() {
      super("decoded", null, false, false);
    }
  }

  /** Stops the loader once a picture is decoded. */
  private static final class Decoded extends BaseImageTransform<Mat> {
    Decoded() {
      super(null);
    }

    @Override
    protected ImageWritable doTransform(ImageWritable image, Random random) {
      throw new DecodedException();
    }

    @Override
    public float[] query(float... coordinates) {
      return coordinates;
    }
  }
}
