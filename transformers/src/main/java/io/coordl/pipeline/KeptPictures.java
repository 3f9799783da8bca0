package io.coordl.pipeline;

import io.coordl.bridge.DecodedPictures;
import io.coordl.store.DecodedForm;
import io.coordl.store.DecodedItem;
import java.awt.Rectangle;
import java.awt.image.BufferedImage;
import java.awt.image.DataBuffer;
import java.awt.image.DataBufferByte;
import java.awt.image.WritableRaster;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import javax.imageio.spi.IIORegistry;
import javax.imageio.spi.ImageReaderSpi;
import org.jspecify.annotations.Nullable;

/**
 * {@code decoded=share} for {@code ImageIO.read(File)} in the program's own code. Caches images of
 * the three types that the JDK's readers of JPEG, PNG and BMP files usually create. An image is
 * cached only if a new image of its type and size differs from it in nothing but the pixel values.
 * Thread-safe.
 */
public final class KeptPictures implements DecodedPictures {
  /** Image types by their number of bytes per pixel. */
  private static final int[] TYPES = {
    0, BufferedImage.TYPE_BYTE_GRAY, 0, BufferedImage.TYPE_3BYTE_BGR, BufferedImage.TYPE_4BYTE_ABGR
  };

  private final KeptItems items;
  private final List<String> libraries;
  private volatile @Nullable DecodedForm form;

  /**
   * Creates a cache that keeps images in {@code items}.
   *
   * @param libraries package prefixes of libraries whose images other code caches
   */
  public KeptPictures(KeptItems items, List<String> libraries) {
    this.items = items;
    this.libraries = List.copyOf(libraries);
  }

  /**
   * Returns the versions of the JDK and of all image readers, because JDKs decode JPEG differently,
   * and a program may add readers.
   */
  public static String decoders() {
    SortedSet<String> versions = new TreeSet<>();
    IIORegistry.getDefaultInstance()
        .getServiceProviders(ImageReaderSpi.class, false)
        .forEachRemaining(
            reader -> versions.add(reader.getClass().getName() + " " + reader.getVersion()));
    return String.format(
        "%s %s %s",
        System.getProperty("java.vm.vendor"), System.getProperty("java.runtime.version"), versions);
  }

  @Override
  public @Nullable Picture open(String path, Class<?> caller) {
    if (libraries.stream().anyMatch(caller.getName()::startsWith)) {
      return null;
    }
    DecodedItem item = items.item(path);
    return item == null ? null : new Item(item, form());
  }

  /** Returns the form for the readers that are registered now. */
  private DecodedForm form() {
    String text = "image decoded by " + decoders();
    DecodedForm known = form;
    if (known == null || !known.text().equals(text)) {
      known = DecodedForm.of(text);
      form = known;
    }
    return known;
  }

  private record Item(DecodedItem item, DecodedForm form) implements Picture {
    @Override
    public @Nullable BufferedImage find() {
      KeptArray kept = KeptItems.find(item, form);
      return kept == null ? null : image(kept);
    }

    @Override
    public void keep(BufferedImage decoded, long nanos) {
      KeptItems.keep(item, form, nanos, () -> array(decoded));
    }
  }

  /** Recreates the image whose bytes {@link #array} returned. */
  static BufferedImage image(KeptArray kept) {
    BufferedImage image = new BufferedImage(kept.second(), kept.first(), TYPES[kept.third()]);
    kept.values().duplicate().get(((DataBufferByte) image.getRaster().getDataBuffer()).getData());
    return image;
  }

  /**
   * Returns an array that shares the bytes of an image; null if no equal image can be created from
   * them, for example because its colour space is neither sRGB nor the standard grey.
   */
  public static @Nullable KeptArray array(BufferedImage image) {
    if (image.getClass() != BufferedImage.class) {
      return null; // Its methods are the program's own code.
    }
    for (int bytes = 1; bytes < TYPES.length; bytes++) {
      if (image.getType() == TYPES[bytes] && TYPES[bytes] != 0) {
        WritableRaster raster = image.getRaster();
        return isNormal(image) && raster.getDataBuffer() instanceof DataBufferByte buffer
            ? new KeptArray(
                image.getHeight(), image.getWidth(), bytes, ByteBuffer.wrap(buffer.getData()))
            : null;
      }
    }
    return null;
  }

  /** Whether a new image of the same type and size differs only in its pixel values. */
  private static boolean isNormal(BufferedImage image) {
    int width = image.getWidth();
    int height = image.getHeight();
    BufferedImage other = new BufferedImage(1, 1, image.getType());
    WritableRaster raster = image.getRaster();
    WritableRaster made = other.getRaster();
    return image.getPropertyNames() == null
        && image.getColorModel().equals(other.getColorModel())
        && image.getColorModel().getColorSpace() == other.getColorModel().getColorSpace()
        && image.isAlphaPremultiplied() == other.isAlphaPremultiplied()
        && raster.getClass() == made.getClass()
        && raster.getParent() == null
        && raster.getBounds().equals(new Rectangle(width, height))
        && raster.getSampleModelTranslateX() == 0
        && raster.getSampleModelTranslateY() == 0
        && raster
            .getSampleModel()
            .equals(made.getSampleModel().createCompatibleSampleModel(width, height))
        && isLike(
            raster.getDataBuffer(), made.getDataBuffer(), width * height * made.getNumBands());
  }

  private static boolean isLike(DataBuffer buffer, DataBuffer other, int size) {
    return buffer.getClass() == other.getClass()
        && buffer.getNumBanks() == 1
        && buffer.getOffset() == 0
        && buffer.getSize() == size;
  }
}
