package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.pipeline.KeptArray;
import io.coordl.pipeline.KeptItems;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import io.coordl.purity.ClassFiles;
import io.coordl.store.DecodedForm;
import io.coordl.store.DecodedItem;
import io.coordl.telemetry.log.OnceLog;
import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.bytedeco.opencv.opencv_core.Mat;
import org.datavec.image.data.Image;
import org.datavec.image.loader.NativeImageLoader;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.concurrency.AffinityManager;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Intercepts {@code NativeImageLoader.asMatrixView(File, INDArray)} and {@code asMatrix(File,
 * boolean)}: fills the array from cached pixels, or caches its pixels after the loader has filled
 * it. For loaders with a transform, which may be random, for arrays that are not plain floats, and
 * for {@code asImageMatrix}, only the decoded picture is cached ({@link DecodedMats}). Ignores
 * loaders of multi-page images and loaders of the program's own classes, and logs this once.
 *
 * <p>Replaces {@code fillNDArray} of all loaders, which writes a picture into an array ({@link
 * Floats#fill(INDArray, Mat)}).
 *
 * <p>The array of a file is also a whole sample of an image reader. So {@code prepared=share} uses
 * the same cache where it cannot cache whole batches.
 */
public final class MatrixInterceptor implements LibraryHooks {
  private final Class<?> declaring;
  private final KeptItems kept;
  private final String policy;
  private final OnceLog log;
  private final String code;
  private final LibraryField<Object> height;
  private final LibraryField<Object> width;
  private final LibraryField<Object> channels;
  private final LibraryField<Object> centerCrop;
  private final LibraryField<Object> transform;
  private final LibraryField<Object> pages;
  private final DecodedMats mats;
  private final ConcurrentHashMap<String, DecodedForm> forms = new ConcurrentHashMap<>();

  public MatrixInterceptor(Class<?> declaring, Services services)
      throws ReflectiveOperationException, IOException {
    Symbols.require(MatrixInterceptor.class, Floats.class);
    Class<?> base = declaring.getSuperclass();
    this.height = new LibraryField<>(Symbols.field(base, "height", long.class), Object.class);
    this.width = new LibraryField<>(Symbols.field(base, "width", long.class), Object.class);
    this.channels = new LibraryField<>(Symbols.field(base, "channels", long.class), Object.class);
    this.centerCrop =
        new LibraryField<>(Symbols.field(base, "centerCropIfNeeded", boolean.class), Object.class);
    this.transform = LibraryField.of(base, "imageTransform");
    this.pages = LibraryField.of(base, "multiPageMode");
    this.declaring = declaring;
    this.kept = Objects.requireNonNull(KeptItems.ofSamples(services));
    this.policy = services.decoded() == null ? "prepared=share" : "decoded=share";
    this.log = new OnceLog(services.log());
    this.code =
        "DL4J matrix "
            + ClassFiles.checksum(declaring, "NativeImageLoader")
            + " decoded by OpenCV "
            + ClassFiles.checksums(declaring, DecodedMats.OPENCV);
    this.mats = new DecodedMats(declaring, code);
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (method.equals("fillNDArray")) {
      return Floats.fill((INDArray) arguments[1], (Mat) arguments[0])
          ? InterceptedCall.skipping()
          : null;
    }
    if (method.equals("transformImage")) {
      mats.decoded(self, arguments[0]);
      return null;
    }
    mats.begin(self, null);
    if (!(arguments[0] instanceof File file)) {
      return null;
    }
    DecodedItem item = kept.item(file.getPath());
    if (item == null) {
      return null;
    }
    boolean view = method.equals("asMatrixView");
    String reason = reasonToLeave(self);
    if (!reason.isEmpty()) {
      log.once(policy + " leaves " + reason + " to DL4J.");
      return null;
    }
    boolean plain =
        view
            ? Floats.isPlain((INDArray) arguments[1])
            : method.equals("asMatrix") && Boolean.TRUE.equals(arguments[1]);
    if (!plain || transforms(self)) {
      return ofPicture((NativeImageLoader) self, method, arguments[1], item);
    }
    DecodedForm form = form(self);
    KeptArray found = KeptItems.find(item, form);
    INDArray target = view ? (INDArray) arguments[1] : null;
    INDArray filled = found == null ? null : filled(target, found);
    return filled == null ? keep(item, form, target) : new InterceptedCall(filled);
  }

  /**
   * Lets the loader process the cached picture; if there is none, the loader decodes it, and {@link
   * DecodedMats} caches it.
   */
  private @Nullable InterceptedCall ofPicture(
      NativeImageLoader loader, String method, Object argument, DecodedItem item) {
    Mat picture = mats.find(item);
    if (picture == null) {
      mats.begin(loader, item);
      return null;
    }
    long span = Spans.enter(SpanKind.DECODE, loader);
    Spans.exit(Spans.enter(SpanKind.REUSED, null), null); // It is converted, but not decoded.
    try {
      if (argument instanceof INDArray view) {
        loader.asMatrixView(picture, view);
        return InterceptedCall.skipping();
      }
      INDArray made = loader.asMatrix(picture);
      INDArray array = Boolean.TRUE.equals(argument) ? made : made.permute(0, 2, 3, 1);
      return new InterceptedCall(
          method.equals("asMatrix")
              ? array
              : new Image(array, picture.channels(), picture.rows(), picture.cols()));
    } catch (Throwable t) {
      return InterceptedCall.throwing(t); // An exception of the loader, or of its transform.
    } finally {
      Spans.exit(span, null);
      picture.deallocate();
    }
  }

  /** Returns why the loader is ignored; empty if it is not. */
  String reasonToLeave(Object loader) {
    if (loader.getClass() != declaring) {
      return "loaders of class " + loader.getClass().getName();
    }
    return pages.get(loader) != null ? "loaders with a MultiPageMode" : "";
  }

  /** Whether a loader has a transform, so that only its decoded pictures are cached. */
  boolean transforms(Object loader) {
    return transform.get(loader) != null;
  }

  /** Returns the form of decoded pictures. */
  DecodedForm formOfPictures() {
    return mats.form();
  }

  /** Describes everything that determines the loader's arrays, except the file. */
  DecodedForm form(Object loader) {
    String cropped = centerCrop.bits(loader) != 0 ? " cropped" : "";
    String geometry =
        channels.bits(loader) + "x" + height.bits(loader) + "x" + width.bits(loader) + cropped;
    return forms.computeIfAbsent(geometry, text -> DecodedForm.of(code + " " + text));
  }

  /** Returns a new loader with the same dimensions, for another thread. */
  NativeImageLoader copy(Object loader) {
    return new NativeImageLoader(
        height.bits(loader),
        width.bits(loader),
        channels.bits(loader),
        centerCrop.bits(loader) != 0);
  }

  /**
   * Returns channels, height and width of the loader's arrays; null if any depends on the picture.
   */
  long @Nullable [] shape(Object loader) {
    long[] shape = {channels.bits(loader), height.bits(loader), width.bits(loader)};
    return Arrays.stream(shape).allMatch(size -> size > 0) ? shape : null;
  }

  /**
   * Returns the target, filled with the cached values, or a new array as the loader creates it, in
   * the caller's workspace if one is open. Null if the target has another shape, or the array would
   * not be plain.
   */
  private static @Nullable INDArray filled(@Nullable INDArray target, KeptArray kept) {
    int[] shape = {kept.first(), kept.second(), kept.third()};
    boolean fits =
        target == null
            ? Nd4j.dataType() == DataType.FLOAT && Nd4j.order() == 'c'
            : Arrays.equals(shape, Floats.dimensions(target));
    if (!fits) {
      return null;
    }
    INDArray filled = target == null ? Nd4j.create(shape) : target;
    Floats.fill(filled, kept);
    // Like the loader: the newest values are in host memory.
    Nd4j.getAffinityManager().tagLocation(filled, AffinityManager.Location.HOST);
    return target == null ? filled.reshape(1, shape[0], shape[1], shape[2]) : target;
  }

  /** Lets the loader create an array or fill the target, and then caches its pixels. */
  private static InterceptedCall keep(
      DecodedItem item, DecodedForm form, @Nullable INDArray target) {
    long start = System.nanoTime();
    return InterceptedCall.after(
        own -> {
          INDArray made = target != null ? target : (INDArray) own;
          KeptItems.keep(
              item,
              form,
              System.nanoTime() - start,
              () -> made != null && Floats.isPlain(made) ? Floats.read(made) : null);
          return own;
        });
  }
}
