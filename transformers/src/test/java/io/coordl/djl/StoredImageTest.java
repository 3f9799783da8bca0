package io.coordl.djl;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Device;
import ai.djl.modality.cv.BufferedImageFactory;
import ai.djl.modality.cv.Image;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import io.coordl.bridge.InterceptedCall;
import io.coordl.cache.ArenaStore;
import io.coordl.cache.ByteBudget;
import io.coordl.cache.DecodedStore;
import io.coordl.pipeline.Services;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read of an image's array to keep it, where arrays are made on a device. */
class StoredImageTest {
  @TempDir Path directory;
  private final List<Device> reads = new ArrayList<>();
  private final List<Device> made = new ArrayList<>();
  private final BufferedImageFactory factory = new BufferedImageFactory();
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
            BufferedImageFactory.class,
            new Services(store, null, null, null, 0, null, null, null, null, null, word -> {}));
    BufferedImage picture = new BufferedImage(2, 1, BufferedImage.TYPE_3BYTE_BGR);
    picture.setRGB(0, 0, 0x010203);
    picture.setRGB(1, 0, 0xfdfeff);
    file = directory.resolve("a.png");
    ImageIO.write(picture, "png", file.toFile());
  }

  @AfterEach
  void close() {
    store.close();
  }

  /** An engine with devices, that has nothing but what an image needs. */
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

  private NDArray ask(Device device) throws IOException {
    InterceptedCall call =
        Objects.requireNonNull(
            images.enter(
                "djl.ImageInterceptor",
                BufferedImageFactory.class,
                "fromFile",
                factory,
                new Object[] {file}));
    Image image =
        (Image)
            Objects.requireNonNull(call.result(call.replaced() ? null : factory.fromFile(file)));
    return image.toNDArray(manager(device), Image.Flag.COLOR);
  }

  private static byte[] bytes(NDArray array) {
    byte[] bytes = new byte[6];
    array.toByteBuffer().get(bytes);
    return bytes;
  }

  @Test
  void aPictureThatGoesToADeviceIsKeptFromMainMemoryAndNeverReadBack() throws IOException {
    NDArray first = ask(Device.gpu(3));
    assertThat(reads).as("arrays that were read").doesNotContain(Device.gpu(3));
    assertThat(made).containsExactly(Device.cpu(), Device.gpu(3));

    NDArray second = ask(Device.gpu(3));
    assertThat(made).as("without a decode").endsWith(Device.gpu(3)).hasSize(3);
    assertThat(reads).doesNotContain(Device.gpu(3));
    for (NDArray array : List.of(first, second)) {
      assertThat(array.getDevice()).isEqualTo(Device.gpu(3));
      assertThat(bytes(array)).containsExactly(1, 2, 3, -3, -2, -1);
    }
  }

  @Test
  void inMainMemoryTheProgramsArrayIsKept() throws IOException {
    assertThat(bytes(ask(Device.cpu()))).containsExactly(1, 2, 3, -3, -2, -1);
    assertThat(made).containsExactly(Device.cpu());
  }

  @Test
  void whereMainMemoryCannotBeHadNothingIsKeptAndTheProgramHasItsArray() throws IOException {
    hostFails = true;
    for (int i = 0; i < 2; i++) {
      NDArray array = ask(Device.gpu());
      assertThat(reads).isEmpty();
      assertThat(bytes(array)).containsExactly(1, 2, 3, -3, -2, -1);
      reads.clear();
    }
    assertThat(made).containsExactly(Device.gpu(), Device.gpu());
  }
}
