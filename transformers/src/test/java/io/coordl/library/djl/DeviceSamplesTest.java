package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import io.coordl.pipeline.BatchLayout;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Samples on a device are read once per batch, not one by one. */
class DeviceSamplesTest {
  private static final int SAMPLES = 4;

  private final List<String> reads = new ArrayList<>();
  private final DeviceSamples samples = new DeviceSamples();
  private final List<byte[]> kept = new ArrayList<>();

  private NDList onDevice(String name, int bytes, int first) {
    ByteBuffer values = ByteBuffer.allocateDirect(bytes);
    for (int i = 0; i < bytes; i++) {
      values.put(i, (byte) (first + i));
    }
    return new NDList(
        (NDArray)
            Proxy.newProxyInstance(
                NDArray.class.getClassLoader(),
                new Class<?>[] {NDArray.class},
                (array, method, arguments) -> {
                  assertThat(method.getName()).isEqualTo("toByteBuffer");
                  reads.add(name);
                  return values.duplicate();
                }));
  }

  private static BatchLayout layout(int length) {
    return new BatchLayout(
        List.of(
            new BatchLayout.Array(BatchArrays.DATA, "UINT8", "", List.of((long) length), length),
            new BatchLayout.Array(BatchArrays.LABELS, "UINT8", "", List.of(), 1),
            new BatchLayout.Array("file", "", "a.jpg", List.of(1L, 2L, 3L, 4L, 5L), 0)));
  }

  private void add(int place, BatchLayout layout) {
    samples.add(
        place,
        layout,
        (sample, nanos) -> {
          ByteBuffer bytes =
              ByteBuffer.allocate((int) sample.bytes()).order(ByteOrder.nativeOrder());
          sample.writeTo(bytes);
          BatchLayout read = BatchLayout.read(bytes.rewind());
          assertThat(read.arrays()).isEqualTo(layout.arrays());
          byte[] values = new byte[4];
          read.values(bytes, 0).get(values, 0, 3);
          values[3] = read.values(bytes, 1).get();
          kept.add(values);
        });
  }

  @Test
  void batchOnADeviceIsReadOnce() throws IOException {
    for (int place : new int[] {0, 1, 3}) { // Sample 2 is already cached.
      add(place, layout(3));
    }
    samples.keep(onDevice("data", 3 * SAMPLES, 0), onDevice("labels", SAMPLES, 50), SAMPLES);
    assertThat(reads).containsExactly("data", "labels");
    assertThat(kept)
        .containsExactly(
            new byte[] {0, 1, 2, 50}, new byte[] {3, 4, 5, 51}, new byte[] {9, 10, 11, 53});
  }

  @Test
  void batchWhoseSamplesAreAllKeptIsNotRead() throws IOException {
    samples.keep(onDevice("data", 12, 0), onDevice("labels", 4, 0), SAMPLES);
    assertThat(reads).isEmpty();
  }

  @Test
  void batchLargerThanItsSamplesIsNotKept() throws IOException {
    add(0, layout(3));
    add(1, layout(2));
    samples.keep(onDevice("data", 13, 0), onDevice("labels", SAMPLES, 0), SAMPLES);
    add(0, layout(3));
    samples.keep(onDevice("data", 12, 0), new NDList(), SAMPLES);
    assertThat(kept).isEmpty();
  }
}
