package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.modality.cv.Image;
import ai.djl.ndarray.NDManager;
import io.coordl.pipeline.KeptArray;
import io.coordl.pipeline.KeptPictures;
import java.awt.image.BufferedImage;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The pixels of a JDK image with three bytes per pixel, such as a decoded JPEG file. The library
 * converts each pixel through the image's colour model, which takes as long as decoding; for these
 * sRGB images the result is the same bytes in another order. The first images are compared with the
 * library's result. Thread-safe.
 */
final class BufferedPixels {
  private static final String IMAGES = "ai.djl.modality.cv.BufferedImageFactory$";
  private static final int CHANNELS = 3;
  private static final int COMPARED = 4;

  private static final AtomicInteger TO_COMPARE = new AtomicInteger(COMPARED);
  private static volatile boolean differs;

  private BufferedPixels() {}

  /**
   * Returns the pixels as {@code toNDArray} does; null for other kinds of images.
   *
   * @param manager manager of the array that the program requests
   */
  static @Nullable KeptArray of(Image image, Image.@Nullable Flag flag, NDManager manager) {
    if (differs
        || !image.getClass().getName().startsWith(IMAGES)
        || flag == Image.Flag.GRAYSCALE
        || !(image.getWrappedImage() instanceof BufferedImage wrapped)
        || wrapped.getClass() != BufferedImage.class
        || wrapped.getType() != BufferedImage.TYPE_3BYTE_BGR) {
      return null;
    }
    KeptArray pixels = read(wrapped);
    if (pixels != null && TO_COMPARE.get() > 0) {
      try (NDManager host = manager.newSubManager(Device.cpu())) {
        KeptArray expected = Pixels.of(image.toNDArray(host, flag));
        if (expected == null || !expected.values().equals(pixels.values())) {
          differs = true;
          return null;
        }
        TO_COMPARE.decrementAndGet();
      }
    }
    return pixels;
  }

  private static @Nullable KeptArray read(BufferedImage image) {
    KeptArray kept = KeptPictures.array(image);
    if (kept == null) {
      return null;
    }
    byte[] blueFirst = kept.values().array();
    byte[] pixels = new byte[blueFirst.length];
    for (int i = 0; i < pixels.length; i += CHANNELS) {
      pixels[i] = blueFirst[i + 2];
      pixels[i + 1] = blueFirst[i + 1];
      pixels[i + 2] = blueFirst[i];
    }
    ByteBuffer values = ByteBuffer.allocateDirect(pixels.length);
    return new KeptArray(kept.first(), kept.second(), CHANNELS, values.put(pixels).rewind());
  }
}
