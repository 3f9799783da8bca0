package io.coordl.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.cache.DecodedForm;
import io.coordl.cache.DecodedItem;
import io.coordl.log.OnceLog;
import io.coordl.pipeline.KeptArray;
import io.coordl.pipeline.KeptItems;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import io.coordl.purity.ClassFiles;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.concurrency.AffinityManager;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * {@code NativeImageLoader.asMatrixView(File, INDArray)} and {@code asMatrix(File, boolean)}: the
 * array is filled from kept pixels, or its pixels are kept once the loader has filled it. Loaders
 * with a transform, which may be random, and arrays that are not plain floats get the decoded
 * picture only ({@link DecodedMats}). Loaders of several pages, or of a class of the program's own,
 * are left alone; that is said once.
 */
public final class MatrixInterceptor implements LibraryHooks {
  private final Class<?> declaring;
  private final KeptItems kept;
  private final OnceLog log;
  private final String code;
  private final Field height;
  private final Field width;
  private final Field channels;
  private final Field centerCrop;
  private final Field transform;
  private final Field pages;
  private final DecodedMats mats;
  private final ConcurrentHashMap<String, DecodedForm> forms = new ConcurrentHashMap<>();

  public MatrixInterceptor(Class<?> declaring, Services services)
      throws ReflectiveOperationException, IOException {
    Symbols.require(MatrixInterceptor.class, Floats.class);
    Class<?> base = declaring.getSuperclass();
    this.height = Symbols.field(base, "height", long.class);
    this.width = Symbols.field(base, "width", long.class);
    this.channels = Symbols.field(base, "channels", long.class);
    this.centerCrop = Symbols.field(base, "centerCropIfNeeded", boolean.class);
    this.transform = Symbols.field(base, "imageTransform");
    this.pages = Symbols.field(base, "multiPageMode");
    this.declaring = declaring;
    this.kept = Objects.requireNonNull(KeptItems.of(services));
    this.log = new OnceLog(services.log());
    // OpenCV's version is in its constants, and these in its class file.
    this.code =
        "DL4J matrix "
            + ClassFiles.checksum(declaring, "NativeImageLoader")
            + " decoded by OpenCV "
            + ClassFiles.checksum(declaring, "/org/bytedeco/opencv/global/opencv_core")
            + " "
            + ClassFiles.checksum(declaring, "/org/bytedeco/opencv/global/opencv_imgcodecs");
    this.mats = new DecodedMats(declaring, code);
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (method.equals("streamToMat")) {
      return mats.bytes(self);
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
    try {
      String reason = reasonToLeave(self);
      if (!reason.isEmpty()) {
        log.once("decoded=share leaves " + reason + " to DL4J.");
        return null;
      }
      if (method.equals("asImageMatrix")) {
        mats.begin(self, item); // Its image also says what size the picture has.
        return null;
      }
      boolean plain =
          view ? Floats.isPlain((INDArray) arguments[1]) : Boolean.TRUE.equals(arguments[1]);
      if (!plain || transform.get(self) != null) {
        mats.begin(self, item);
        return null;
      }
      DecodedForm form = form(self);
      KeptArray found = KeptItems.find(item, form);
      INDArray target = view ? (INDArray) arguments[1] : null;
      INDArray filled = found == null ? null : filled(target, found);
      return filled == null ? keep(item, form, target) : new InterceptedCall(filled);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Empty if the loader is one that decodes the file as it is. */
  String reasonToLeave(Object loader) throws IllegalAccessException {
    if (loader.getClass() != declaring) {
      return "loaders of class " + loader.getClass().getName();
    }
    return pages.get(loader) != null ? "loaders with a MultiPageMode" : "";
  }

  /** What decides, but for the file, what arrays the loader makes. */
  DecodedForm form(Object loader) throws IllegalAccessException {
    String geometry =
        channels.getLong(loader)
            + "x"
            + height.getLong(loader)
            + "x"
            + width.getLong(loader)
            + (centerCrop.getBoolean(loader) ? " cropped" : "");
    return forms.computeIfAbsent(geometry, text -> DecodedForm.of(code + " " + text));
  }

  /** A loader of the program's class and numbers, to be used by another thread. */
  Object copy(Object loader) {
    try {
      return declaring
          .getConstructor(long.class, long.class, long.class, boolean.class)
          .newInstance(
              height.getLong(loader),
              width.getLong(loader),
              channels.getLong(loader),
              centerCrop.getBoolean(loader));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Channels, height and width of the loader's arrays; null if they are the picture's own. */
  long @Nullable [] shape(Object loader) throws IllegalAccessException {
    long[] shape = {channels.getLong(loader), height.getLong(loader), width.getLong(loader)};
    return Arrays.stream(shape).allMatch(size -> size > 0) ? shape : null;
  }

  /**
   * The target with the kept values, or an array of them as the loader makes it, workspace of the
   * caller included; null if the target is of another shape, or the array would not be plain.
   */
  private static @Nullable INDArray filled(@Nullable INDArray target, KeptArray kept) {
    int[] shape = {kept.first(), kept.second(), kept.third()};
    boolean fits =
        target == null
            ? Nd4j.dataType() == DataType.FLOAT
            : Arrays.equals(shape, Floats.dimensions(target));
    if (!fits) {
      return null;
    }
    INDArray filled = target == null ? Nd4j.create(shape) : target;
    Floats.fill(filled, kept);
    // As the loader ends: the host's memory is what counts now.
    Nd4j.getAffinityManager().tagLocation(filled, AffinityManager.Location.HOST);
    return target == null ? filled.reshape(1, shape[0], shape[1], shape[2]) : target;
  }

  /** The loader makes an array, or fills the target, which is kept. */
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
