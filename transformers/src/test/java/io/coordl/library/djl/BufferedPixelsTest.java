package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.modality.cv.Image;
import ai.djl.ndarray.NDManager;
import io.coordl.pipeline.KeptArray;
import java.awt.Transparency;
import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.ComponentColorModel;
import java.awt.image.DataBuffer;
import java.lang.reflect.Constructor;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the pixels of JDK images with the arrays that the library makes of them. */
class BufferedPixelsTest {
  private final NDManager manager = NDManager.newBaseManager();
  private final Random random = new Random(2);

  @AfterEach
  void close() {
    manager.close();
  }

  private BufferedImage noise(int width, int height, int type) {
    BufferedImage image = new BufferedImage(width, height, type);
    for (int i = 0; i < width * height; i++) {
      image.setRGB(i % width, i / width, random.nextInt());
    }
    return image;
  }

  /** Returns an image like the factory's; the factory itself would load OpenCV's native code. */
  private static Image image(BufferedImage of) {
    try {
      Class<?> factory =
          Class.forName(
              "ai.djl.modality.cv.BufferedImageFactory", false, Image.class.getClassLoader());
      Constructor<?> wrapper =
          Class.forName(factory.getName() + "$BufferedImageWrapper")
              .getDeclaredConstructor(factory, BufferedImage.class);
      wrapper.setAccessible(true);
      return (Image) wrapper.newInstance(null, of);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("The library's images have changed", e);
    }
  }

  @Test
  void pixelsMatchTheLibrarys() {
    for (int i = 0; i < 20; i++) {
      int width = 1 + random.nextInt(40);
      int height = 1 + random.nextInt(40);
      Image image = image(noise(width, height, BufferedImage.TYPE_3BYTE_BGR));
      KeptArray pixels = BufferedPixels.of(image, Image.Flag.COLOR, manager);
      assertThat(pixels).isEqualTo(Pixels.of(image.toNDArray(manager, Image.Flag.COLOR)));
    }
  }

  /** Images of these types need a conversion, which is left to the library. */
  @ParameterizedTest
  @ValueSource(
      ints = {
        BufferedImage.TYPE_INT_ARGB,
        BufferedImage.TYPE_BYTE_GRAY,
        BufferedImage.TYPE_BYTE_INDEXED,
        BufferedImage.TYPE_4BYTE_ABGR,
        BufferedImage.TYPE_USHORT_565_RGB
      })
  void otherImageTypesAreLeftToTheLibrary(int type) {
    assertThat(BufferedPixels.of(image(noise(9, 7, type)), Image.Flag.COLOR, manager)).isNull();
  }

  /** The library converts them to sRGB, although the JDK gives them the same type. */
  @Test
  void imagesOfOtherColourSpacesAreLeftToTheLibrary() {
    BufferedImage standard = noise(9, 7, BufferedImage.TYPE_3BYTE_BGR);
    BufferedImage linear =
        new BufferedImage(
            new ComponentColorModel(
                ColorSpace.getInstance(ColorSpace.CS_LINEAR_RGB),
                false,
                false,
                Transparency.OPAQUE,
                DataBuffer.TYPE_BYTE),
            standard.getRaster(),
            false,
            null);
    assertThat(linear.getType()).isEqualTo(BufferedImage.TYPE_3BYTE_BGR);
    for (int i = 0; i < 5; i++) {
      assertThat(BufferedPixels.of(image(standard), Image.Flag.COLOR, manager)).isNotNull();
    }
    assertThat(BufferedPixels.of(image(linear), Image.Flag.COLOR, manager)).isNull();
  }

  @Test
  void subimagesAndGrayAreLeftToTheLibrary() {
    BufferedImage whole = noise(9, 7, BufferedImage.TYPE_3BYTE_BGR);
    Image part = image(whole.getSubimage(2, 1, 5, 5));
    assertThat(BufferedPixels.of(part, Image.Flag.COLOR, manager)).isNull();
    assertThat(BufferedPixels.of(image(whole), Image.Flag.GRAYSCALE, manager)).isNull();
  }
}
