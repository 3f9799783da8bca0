package io.coordl.library.djl;

import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.OpenItem;
import io.coordl.pipeline.KeptItems;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import io.coordl.store.DecodedForm;
import io.coordl.store.DecodedItem;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Intercepts {@code ImageFactory.fromFile(Path)}. If the item's pixels are cached, returns an image
 * over them; otherwise wraps the library's own image, so that its pixels are cached when they are
 * requested. Ignores subclasses of the library's factories, and files outside the default file
 * system.
 */
public final class ImageInterceptor implements LibraryHooks {
  /** Set during the library's own call in {@link Origin#decode}, which is not intercepted. */
  private final ThreadLocal<Boolean> ownCall = ThreadLocal.withInitial(() -> false);

  private final Class<?> declaring;
  private final KeptItems items;
  private final Forms forms;

  public ImageInterceptor(Class<?> declaring, Services services)
      throws ReflectiveOperationException, IOException {
    Symbols.require(ImageInterceptor.class, StoredImage.class, Pixels.class);
    this.declaring = declaring;
    this.items = Objects.requireNonNull(KeptItems.of(services));
    this.forms = new Forms(declaring);
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (self.getClass() != declaring
        || ownCall.get()
        || !(self instanceof ImageFactory factory)
        || !(arguments[0] instanceof Path path)
        || path.getFileSystem() != FileSystems.getDefault()) {
      return null;
    }
    String text = OpenItem.textOf(path);
    DecodedItem item = text == null ? null : items.item(text);
    if (item == null) {
      return null;
    }
    Origin origin = new Origin(this, factory, path, item);
    Pixels kept = kept(item);
    if (kept != null) {
      return new InterceptedCall(StoredImage.of(origin, kept, null));
    }
    long start = System.nanoTime();
    return InterceptedCall.after(
        own -> {
          item.addProducingTime(System.nanoTime() - start);
          return own instanceof Image image ? StoredImage.of(origin, null, image) : own;
        });
  }

  private @Nullable Pixels kept(DecodedItem item) {
    for (DecodedForm form : forms.all()) {
      Pixels found = Pixels.find(item, form);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  record Origin(ImageInterceptor of, ImageFactory factory, Path path, DecodedItem item) {
    @Nullable DecodedForm form(Image.@Nullable Flag flag) {
      return of.forms.of(flag);
    }

    /**
     * Decodes the library's own image now. If the file has changed since the program requested it,
     * creates the image from the cached pixels, because the library would have decoded the old
     * file.
     */
    Image decode(Pixels kept) {
      if (item.unchanged()) {
        of.ownCall.set(true);
        try {
          return factory.fromFile(path);
        } catch (IOException e) {
          // Deleted or replaced since the line above.
        } finally {
          of.ownCall.set(false);
        }
      }
      int[] rgb = kept.toRgb();
      Image image = factory.fromPixels(rgb, kept.width(), kept.height());
      if (!(image.getWrappedImage() instanceof BufferedImage)) {
        return image;
      }
      // The image type that decoding a colour picture gives.
      BufferedImage colours =
          new BufferedImage(kept.width(), kept.height(), BufferedImage.TYPE_3BYTE_BGR);
      colours.setRGB(0, 0, kept.width(), kept.height(), rgb, 0, kept.width());
      return factory.fromImage(colours);
    }
  }
}
