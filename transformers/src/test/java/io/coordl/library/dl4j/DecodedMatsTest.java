package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A cached picture becomes an image file with exactly its pixels, whatever its width. */
final class DecodedMatsTest {
  @ParameterizedTest
  @CsvSource({"1, 1", "2, 3", "3, 2", "5, 7", "61, 47", "64, 48"})
  void colourFileHasRedFirst(int width, int height) {
    BufferedImage picture = new BufferedImage(width, height, BufferedImage.TYPE_3BYTE_BGR);
    Random random = new Random(width);
    byte[] pixels = new byte[3 * width * height];
    for (int i = 0; i < width * height; i++) {
      int rgb = random.nextInt(1 << 24);
      picture.setRGB(i % width, i / width, rgb);
      pixels[3 * i] = (byte) rgb; // Blue.
      pixels[3 * i + 1] = (byte) (rgb >> 8);
      pixels[3 * i + 2] = (byte) (rgb >> 16);
    }

    byte[] file = DecodedMats.anyMap(3, width, height, pixels);

    byte[] header = ("P6\n" + width + " " + height + "\n255\n").getBytes(StandardCharsets.US_ASCII);
    assertThat(file).hasSize(header.length + pixels.length).startsWith(header);
    for (int i = 0; i < width * height; i++) {
      int at = header.length + 3 * i;
      int rgb = (file[at] & 0xff) << 16 | (file[at + 1] & 0xff) << 8 | (file[at + 2] & 0xff);
      assertThat(rgb).as("pixel %d", i).isEqualTo(picture.getRGB(i % width, i / width) & 0xffffff);
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "3, 2", "8, 4"})
  void greyFileIsAHeaderAndItsPixels(int width, int height) {
    byte[] pixels = new byte[width * height];
    new Random(1).nextBytes(pixels);

    byte[] file = DecodedMats.anyMap(1, width, height, pixels);

    byte[] header = ("P5\n" + width + " " + height + "\n255\n").getBytes(StandardCharsets.US_ASCII);
    assertThat(file).hasSize(header.length + pixels.length).startsWith(header).endsWith(pixels);
  }
}
