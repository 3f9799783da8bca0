package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.modality.cv.Image;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import io.coordl.pipeline.KeptArray;
import io.coordl.pipeline.KeptItems;
import io.coordl.store.DecodedForm;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An image of the data set. Programs usually need only its array. Size and array come from the
 * cached pixels. All other methods of {@link Image} are delegated to the library's own image, which
 * is decoded when the first of them is called. Because images can be drawn on, and may expose
 * mutable parts, that image then handles all later calls, and its pixels are not cached.
 *
 * <p>As safe for concurrent use as the library's own image.
 */
final class StoredImage implements InvocationHandler {
  private final ImageInterceptor.Origin origin;
  private final @Nullable Pixels kept;
  private @Nullable Image own;

  /** Whether the library's own image may have been drawn on. */
  private boolean touched;

  private StoredImage(ImageInterceptor.Origin origin, @Nullable Pixels kept, @Nullable Image own) {
    this.origin = origin;
    this.kept = kept;
    this.own = own;
  }

  /** Wraps cached pixels, or an image of the library whose pixels are not cached yet. */
  static Image of(ImageInterceptor.Origin origin, @Nullable Pixels kept, @Nullable Image own) {
    return (Image)
        Proxy.newProxyInstance(
            Image.class.getClassLoader(),
            new Class<?>[] {Image.class},
            new StoredImage(origin, kept, own));
  }

  @Override
  public @Nullable Object invoke(Object image, Method method, Object @Nullable [] arguments)
      throws Throwable {
    Object[] given = arguments == null ? new Object[0] : arguments;
    return switch (method.getName()) {
      case "equals" -> image == given[0];
      case "hashCode" -> hashCode();
      case "toString" -> toString();
      case "getWidth" -> width();
      case "getHeight" -> height();
      case "toNDArray" ->
          toArray((NDManager) given[0], given.length < 2 ? null : (Image.Flag) given[1]);
      default -> {
        Image drawn = touch();
        try {
          Object result = method.invoke(drawn, arguments);
          // The library returns the image itself if it already has the requested size.
          yield result == drawn ? image : result;
        } catch (InvocationTargetException e) {
          throw Objects.requireNonNullElse(e.getCause(), e);
        }
      }
    };
  }

  private synchronized Image own() {
    Image known = own;
    if (known == null) {
      if (kept == null) {
        throw new IllegalStateException("an image has pixels or an original");
      }
      known = origin.decode(kept);
      own = known;
    }
    return known;
  }

  private synchronized Image touch() {
    touched = true;
    return own();
  }

  private synchronized int width() {
    return own == null && kept != null ? kept.width() : own().getWidth();
  }

  private synchronized int height() {
    return own == null && kept != null ? kept.height() : own().getHeight();
  }

  private synchronized NDArray toArray(NDManager manager, Image.@Nullable Flag flag) {
    DecodedForm form = touched ? null : origin.form(flag);
    if (form == null) {
      return own().toNDArray(manager, flag);
    }
    Pixels pixels =
        kept != null && kept.form().equals(form) ? kept : Pixels.find(origin.item(), form);
    if (pixels != null) {
      return pixels.toArray(manager);
    }
    long start = System.nanoTime();
    Pixels host = onHost(manager, flag, form);
    if (host != null) {
      KeptItems.keep(origin.item(), form, System.nanoTime() - start, host::array);
      return host.toArray(manager);
    }
    NDArray array = own().toNDArray(manager, flag);
    KeptItems.keep(origin.item(), form, System.nanoTime() - start, () -> Pixels.of(array));
    return array;
  }

  /**
   * Returns the pixels in main memory, before the library copies them to a device. Reading them
   * back would wait for all pending work of the device. Null if they are unavailable, or if the
   * library is as fast; its own call then creates the array.
   */
  private @Nullable Pixels onHost(NDManager manager, Image.@Nullable Flag flag, DecodedForm form) {
    try {
      KeptArray pixels = BufferedPixels.of(own(), flag, manager);
      if (pixels == null && !Device.cpu().equals(manager.getDevice())) {
        try (NDManager host = manager.newSubManager(Device.cpu())) {
          pixels = Pixels.of(own().toNDArray(host, flag));
        }
      }
      return pixels == null ? null : new Pixels(form, pixels);
    } catch (RuntimeException e) {
      return null;
    }
  }
}
