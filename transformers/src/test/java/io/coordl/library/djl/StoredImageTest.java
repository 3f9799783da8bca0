package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Device;
import ai.djl.modality.cv.BufferedImageFactory;
import ai.djl.modality.cv.Image;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import io.coordl.pipeline.Services;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.DecodedItem;
import io.coordl.store.DecodedStore;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pixels are cached from arrays in main memory, even if the program's arrays are on a device. */
class StoredImageTest {
  @TempDir Path directory;
  private final List<Device> reads = new ArrayList<>();
  private final List<Device> made = new ArrayList<>();
  private boolean hostFails;
  private Path file;
  private DecodedStore store;
  private ImageInterceptor images;

  @BeforeEach
  void open() throws Exception {
    ArenaStore arena = ArenaStore.openProcess(directory, ByteBudget.parse("2m"), word -> {});
    store = new DecodedStore(arena, path -> true);
    images =
        new ImageInterceptor(
            BufferedImageFactory.class, Services.builder(word -> {}).decoded(store).build());
    file = Files.write(directory.resolve("a.png"), new byte[] {7});
  }

  @AfterEach
  void close() {
    store.close();
  }

  /** Returns a manager of arrays on a device; it supports only what an image needs. */
  private NDManager manager(Device device) {
    return (NDManager)
        Proxy.newProxyInstance(
            NDManager.class.getClassLoader(),
            new Class<?>[] {NDManager.class},
            (manager, method, arguments) ->
                switch (method.getName()) {
                  case "getDevice" -> device;
                  case "newSubManager" -> {
                    if (hostFails) {
                      throw new UnsupportedOperationException("one device only");
                    }
                    yield manager((Device) arguments[0]);
                  }
                  case "allocateDirect" -> ByteBuffer.allocateDirect((Integer) arguments[0]);
                  case "create" -> array(device, (ByteBuffer) arguments[0], (Shape) arguments[1]);
                  case "close" -> null;
                  default -> throw new AssertionError(method);
                });
  }

  private NDArray array(Device device, ByteBuffer values, Shape shape) {
    made.add(device);
    return (NDArray)
        Proxy.newProxyInstance(
            NDArray.class.getClassLoader(),
            new Class<?>[] {NDArray.class},
            (array, method, arguments) ->
                switch (method.getName()) {
                  case "getDevice" -> device;
                  case "getShape" -> shape;
                  case "getDataType" -> DataType.UINT8;
                  case "toByteBuffer" -> {
                    reads.add(device);
                    yield values.duplicate();
                  }
                  default -> throw new AssertionError(method);
                });
  }

  /** Returns the library's decoded image, which creates its array with the manager passed to it. */
  private static Image decoded() {
    return (Image)
        Proxy.newProxyInstance(
            Image.class.getClassLoader(),
            new Class<?>[] {Image.class},
            (image, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("toNDArray");
              ByteBuffer pixels = ByteBuffer.wrap(new byte[] {1, 2, 3, -3, -2, -1});
              return ((NDManager) arguments[0]).create(pixels, new Shape(1, 2, 3), DataType.UINT8);
            });
  }

  @SuppressWarnings("NullAway") // A factory would need OpenCV; nothing is decoded.
  private NDArray load(Device device) {
    DecodedItem item = Objects.requireNonNull(store.item(file.toString()));
    ImageInterceptor.Origin origin = new ImageInterceptor.Origin(images, null, file, item);
    Pixels kept = Pixels.find(item, Objects.requireNonNull(origin.form(Image.Flag.COLOR)));
    return StoredImage.of(origin, kept, kept == null ? decoded() : null)
        .toNDArray(manager(device), Image.Flag.COLOR);
  }

  private static byte[] bytes(NDArray array) {
    byte[] bytes = new byte[6];
    array.toByteBuffer().get(bytes);
    return bytes;
  }

  @Test
  void pixelsForADeviceAreCachedFromMainMemoryAndNeverReadBack() {
    NDArray first = load(Device.gpu(3));
    assertThat(reads).as("arrays that were read").doesNotContain(Device.gpu(3));
    assertThat(made).containsExactly(Device.cpu(), Device.gpu(3));

    NDArray second = load(Device.gpu(3));
    assertThat(made).as("without a decode").endsWith(Device.gpu(3)).hasSize(3);
    assertThat(reads).doesNotContain(Device.gpu(3));
    for (NDArray array : List.of(first, second)) {
      assertThat(array.getDevice()).isEqualTo(Device.gpu(3));
      assertThat(bytes(array)).containsExactly(1, 2, 3, -3, -2, -1);
    }
  }

  @Test
  void arrayInMainMemoryIsKeptDirectly() {
    assertThat(bytes(load(Device.cpu()))).containsExactly(1, 2, 3, -3, -2, -1);
    assertThat(made).containsExactly(Device.cpu());
  }

  @Test
  void withoutMainMemoryNothingIsKeptAndTheProgramGetsItsArray() {
    hostFails = true;
    for (int i = 0; i < 2; i++) {
      NDArray array = load(Device.gpu());
      assertThat(reads).isEmpty();
      assertThat(bytes(array)).containsExactly(1, 2, 3, -3, -2, -1);
      reads.clear();
    }
    assertThat(made).containsExactly(Device.gpu(), Device.gpu());
  }
}
