package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.pipeline.KeptArray;
import io.coordl.store.DecodedForm;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** A cached picture keeps its colours. */
final class PixelsTest {
  private static Pixels pixels(int height, int width, int channels, int... values) {
    ByteBuffer bytes = ByteBuffer.allocate(values.length);
    for (int value : values) {
      bytes.put((byte) value);
    }
    return new Pixels(DecodedForm.of("test"), new KeptArray(height, width, channels, bytes.flip()));
  }

  @Test
  void redGreenAndBlueAreUnchanged() {
    Pixels picture = pixels(1, 3, 3, 0xfe, 0x12, 0x03, 0xff, 0, 0, 0, 0x80, 0xff);

    assertThat(picture.toRgb()).containsExactly(0xfffe1203, 0xffff0000, 0xff0080ff);
  }

  @Test
  void greyHasThreeEqualChannels() {
    assertThat(pixels(2, 1, 1, 0x00, 0x9a).toRgb()).containsExactly(0xff000000, 0xff9a9a9a);
  }

  @Test
  void onlyCompletePixelsAreReadBack() {
    Pixels picture = pixels(2, 1, 3, 1, 2, 3, 4, 5, 6);
    ByteBuffer kept = ByteBuffer.allocate((int) picture.array().bytes());
    picture.array().writeTo(kept.duplicate());

    KeptArray array = KeptArray.read(kept);

    assertThat(array).isNotNull();
    Pixels again = new Pixels(picture.form(), array);
    assertThat(again.height()).isEqualTo(2);
    assertThat(again.width()).isEqualTo(1);
    assertThat(again.toRgb()).isEqualTo(picture.toRgb());
    assertThat(KeptArray.read(kept.slice(0, kept.capacity() - 1))).isNull();
  }
}
