package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Hashtable;
import java.util.Objects;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Cached pictures equal decoded ones in everything that a program can see. */
class KeptPicturesTest {
  @TempDir Path folder;

  private BufferedImage decoded(int type, String format) throws IOException {
    BufferedImage drawn = new BufferedImage(37, 23, type);
    Graphics2D graphics = drawn.createGraphics();
    for (int x = 0; x < 37; x++) {
      graphics.setColor(new Color(x * 6, 255 - x * 5, x * x % 256, 255 - x));
      graphics.fillRect(x, x % 7, 1, 23);
    }
    graphics.dispose();
    File file = folder.resolve("picture." + format).toFile();
    assertThat(ImageIO.write(drawn, format, file)).isTrue();
    return ImageIO.read(file);
  }

  private static BufferedImage kept(BufferedImage image) {
    KeptArray array = Objects.requireNonNull(KeptPictures.array(image));
    ByteBuffer bytes = ByteBuffer.allocate((int) array.bytes());
    array.writeTo(bytes);
    return KeptPictures.image(Objects.requireNonNull(KeptArray.read(bytes)));
  }

  @ParameterizedTest
  @CsvSource({
    BufferedImage.TYPE_INT_RGB + ",jpg",
    BufferedImage.TYPE_BYTE_GRAY + ",jpg",
    BufferedImage.TYPE_INT_RGB + ",png",
    BufferedImage.TYPE_INT_ARGB + ",png",
    BufferedImage.TYPE_BYTE_GRAY + ",png",
    BufferedImage.TYPE_3BYTE_BGR + ",bmp",
    BufferedImage.TYPE_3BYTE_BGR + ",tif",
  })
  void aCachedPictureIsLikeADecodedOne(int type, String format) throws IOException {
    BufferedImage decoded = decoded(type, format);
    if (KeptPictures.array(decoded) == null) {
      assertThat(format).as("type " + decoded.getType()).isIn("tif", "png");
      return;
    }
    BufferedImage kept = kept(decoded);
    assertThat(kept).isNotSameAs(decoded).hasSameClassAs(decoded);
    assertThat(kept.getType()).isEqualTo(decoded.getType());
    assertThat(kept.getColorModel()).isEqualTo(decoded.getColorModel());
    assertThat(kept.getColorModel().getTransferType())
        .isEqualTo(decoded.getColorModel().getTransferType());
    assertThat(kept.getSampleModel()).isEqualTo(decoded.getSampleModel());
    assertThat(kept.getRaster()).hasSameClassAs(decoded.getRaster());
    assertThat(kept.getPropertyNames()).isEqualTo(decoded.getPropertyNames());
    assertThat(kept.getProperty("comment")).isEqualTo(decoded.getProperty("comment"));
    assertThat(kept.isAlphaPremultiplied()).isEqualTo(decoded.isAlphaPremultiplied());
    assertThat(kept.getRGB(0, 0, 37, 23, null, 0, 37))
        .isEqualTo(decoded.getRGB(0, 0, 37, 23, null, 0, 37));
    assertThat(bytes(kept)).isEqualTo(bytes(decoded)).isNotSameAs(bytes(decoded));
  }

  private static byte[] bytes(BufferedImage image) {
    return ((DataBufferByte) image.getRaster().getDataBuffer()).getData();
  }

  @Test
  void picturesOfTheUsualTypesAreCached() throws IOException {
    assertThat(KeptPictures.array(decoded(BufferedImage.TYPE_INT_RGB, "jpg"))).isNotNull();
    assertThat(KeptPictures.array(decoded(BufferedImage.TYPE_BYTE_GRAY, "jpg"))).isNotNull();
    assertThat(KeptPictures.array(decoded(BufferedImage.TYPE_INT_RGB, "png"))).isNotNull();
    assertThat(KeptPictures.array(decoded(BufferedImage.TYPE_INT_ARGB, "png"))).isNotNull();
  }

  @Test
  @SuppressWarnings("JdkObsolete") // BufferedImage takes a Hashtable.
  void otherPicturesAreLeft() throws IOException {
    BufferedImage whole = new BufferedImage(8, 8, BufferedImage.TYPE_3BYTE_BGR);
    assertThat(KeptPictures.array(whole)).isNotNull();
    assertThat(KeptPictures.array(whole.getSubimage(2, 2, 4, 4))).isNull();
    assertThat(KeptPictures.array(decoded(BufferedImage.TYPE_BYTE_INDEXED, "png"))).isNull();
    assertThat(KeptPictures.array(decoded(BufferedImage.TYPE_USHORT_GRAY, "png"))).isNull();
    Hashtable<String, Object> properties = new Hashtable<>();
    properties.put("comment", "a text");
    assertThat(
            KeptPictures.array(
                new BufferedImage(whole.getColorModel(), whole.getRaster(), false, properties)))
        .isNull();
    BufferedImage own = new BufferedImage(8, 8, BufferedImage.TYPE_3BYTE_BGR) {};
    assertThat(KeptPictures.array(own)).isNull();
  }
}
