package io.coordl.library.dl4j;

import io.coordl.bridge.Bridge;
import io.coordl.pipeline.KeptArray;
import io.coordl.pipeline.KeptItems;
import io.coordl.pipeline.Symbols;
import io.coordl.store.DecodedForm;
import io.coordl.store.DecodedItem;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.Set;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.opencv.global.opencv_core;
import org.bytedeco.opencv.opencv_core.Mat;
import org.jspecify.annotations.Nullable;

/**
 * Caches pictures as decoded by OpenCV where the loader's array is not cached: if an {@code
 * ImageTransform} may make the array depend on more than the file, if its values are not floats in
 * plain order, and for {@code asImageMatrix}, which also returns the picture's size. If the picture
 * is cached, the loader's own methods for decoded pictures process a copy of it, with all random
 * draws and exceptions.
 *
 * <p>Caching a picture takes two calls of one loader on one thread: {@code asMatrix*(File, ..)} or
 * {@code asImageMatrix} identifies the item, and {@code transformImage} receives the decoded
 * picture. The first call may throw, and the second may have other callers. So during the second,
 * the agent searches the stack for the first.
 */
final class DecodedMats {
  /** Class files that identify the decoder: its version is in their constants. */
  static final String[] OPENCV = {
    "/org/bytedeco/opencv/global/opencv_core", "/org/bytedeco/opencv/global/opencv_imgcodecs"
  };

  private static final int MAX_CHANNELS = 4;

  private static final StackWalker STACK =
      StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

  /** Methods that load a file; overloads with other parameters do not. */
  private static final Set<String> FROM_FILE = Set.of("asMatrix", "asMatrixView", "asImageMatrix");

  /** Maximum frames to search: one of the agent, three of the loader, and a few between. */
  private static final int MAX_FRAMES = 16;

  private final Class<?> loaderClass;
  private final DecodedForm form;
  private final ThreadLocal<@Nullable Load> current = ThreadLocal.withInitial(() -> null);

  /** The item that a loader is loading on this thread, or was loading when it failed. */
  private record Load(Object loader, DecodedItem item, long start) {}

  /** {@code code} describes the decoder. */
  DecodedMats(Class<?> loaderClass, String code) throws ReflectiveOperationException {
    Symbols.require(DecodedMats.class);
    this.loaderClass = loaderClass;
    this.form = DecodedForm.of(code + " pixels");
  }

  /** Returns the form in which pictures are cached. */
  DecodedForm form() {
    return form;
  }

  /** Called when {@code loader} begins to load {@code item}; null if it is not to be cached. */
  void begin(Object loader, @Nullable DecodedItem item) {
    if (item == null) {
      current.remove();
    } else {
      current.set(new Load(loader, item, System.nanoTime()));
    }
  }

  /** Returns a copy of an item's picture, which the caller frees; null if it is not cached. */
  @Nullable Mat find(DecodedItem item) {
    KeptArray kept = KeptItems.find(item, form);
    if (kept == null) {
      return null;
    }
    ByteBuffer pixels = kept.values().duplicate();
    try (Mat picture =
        new Mat(
            kept.first(),
            kept.second(),
            opencv_core.CV_8UC(kept.third()),
            new BytePointer(pixels))) {
      return picture.clone();
    } finally {
      // The matrix refers to its memory by address only.
      Reference.reachabilityFence(pixels);
    }
  }

  /**
   * Caches the picture passed to {@code transformImage} if it belongs to the current load. Never
   * throws.
   */
  void decoded(Object loader, Object picture) {
    Load load = current.get();
    if (load == null || load.loader != loader || !isLoadingFile()) {
      return;
    }
    current.remove();
    try {
      KeptItems.keep(
          load.item,
          form,
          System.nanoTime() - load.start,
          () -> picture instanceof Mat mat ? pixels(mat) : null);
    } catch (Throwable t) {
      Bridge.fault("keeping a picture", t);
    }
  }

  /** Whether the current call of the loader comes from one of its methods that load a file. */
  private boolean isLoadingFile() {
    return STACK.walk(
        frames ->
            frames
                .limit(MAX_FRAMES)
                .dropWhile(frame -> frame.getDeclaringClass() != loaderClass)
                .takeWhile(frame -> frame.getDeclaringClass() == loaderClass)
                .anyMatch(
                    frame ->
                        FROM_FILE.contains(frame.getMethodName())
                            && (frame.getDescriptor().startsWith("(Ljava/io/File;L")
                                || frame.getDescriptor().startsWith("(Ljava/io/File;Z"))));
  }

  /** Returns the pixels, row by row; null unless they are bytes without gaps. */
  private static @Nullable KeptArray pixels(Mat picture) {
    return picture.depth() == opencv_core.CV_8U
            && picture.dims() == 2
            && picture.channels() <= MAX_CHANNELS
            && picture.isContinuous()
        ? new KeptArray(
            picture.rows(),
            picture.cols(),
            picture.channels(),
            ByteBuffer.wrap(Floats.bytes(picture)))
        : null;
  }
}
