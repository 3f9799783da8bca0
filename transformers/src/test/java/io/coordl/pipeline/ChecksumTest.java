package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Sequences of numbers that differ in one number or in their order differ in their checksums. */
class ChecksumTest {
  @Test
  void equalNumbersHaveEqualChecksums() {
    assertThat(Checksum.of(1, 2, 3)).isEqualTo(Checksum.of(1, 2, 3));
    assertThat(Checksum.mix(Checksum.of(1, 2), 3)).isEqualTo(Checksum.of(1, 2, 3));
    assertThat(Checksum.of()).isEqualTo(Checksum.NONE);
  }

  @Test
  void valuesPositionsAndLengthMatter() {
    Set<Long> met = new HashSet<>();
    int count = 0;
    for (long one = -100; one < 100; one++) {
      met.add(Checksum.of(one));
      count++;
      for (long other = -100; other < 100; other++) {
        met.add(Checksum.of(one, other));
        count++;
      }
      for (int bit = 7; bit < 63; bit++) {
        met.add(Checksum.of(one, 1L << bit));
        met.add(Checksum.of(1L << bit, one));
        count += 2;
      }
    }
    assertThat(met).hasSize(count);
  }

  /** Lengths below 100, in heap memory and, at another position, in direct memory. */
  @Test
  void eachByteMatters() {
    for (int length = 0; length < 100; length++) {
      byte[] bytes = new byte[length];
      new Random(length).nextBytes(bytes);
      Set<Long> met = new HashSet<>();
      long checksum = Checksum.mix(7, ByteBuffer.wrap(bytes));
      met.add(checksum);
      met.add(Checksum.mix(8, ByteBuffer.wrap(bytes)));
      met.add(Checksum.mix(7, ByteBuffer.wrap(Arrays.copyOf(bytes, length + 1))));
      ByteBuffer direct = ByteBuffer.allocateDirect(length + 3).put(3, bytes).position(3);
      assertThat(Checksum.mix(7, direct)).isEqualTo(checksum);
      for (int i = 0; i < length; i++) {
        bytes[i]++;
        met.add(Checksum.mix(7, ByteBuffer.wrap(bytes)));
        bytes[i]--;
      }
      assertThat(met).hasSize(3 + length);
    }
  }
}
