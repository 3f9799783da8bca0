package io.coordl.transformers.callsite;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.Mat;
import org.opencv.imgcodecs.Imgcodecs;

/** OpenCV's {@code imread} decodes an item from memory if the agent has its bytes. */
final class NativeReadsTest {
  @TempDir Path directory;

  private final List<Throwable> faults = new ArrayList<>();
  private Class<?> subject;
  private String path;

  @BeforeEach
  void rewrite() throws Exception {
    Rewritten loader = new Rewritten(ImreadSubject.class.getName());
    subject = loader.loadClass(ImreadSubject.class.getName());
    assertThat(loader.rewritten).hasSize(2);
    path = Files.writeString(directory.resolve("image"), "pixels").toString();
    Imgcodecs.BUFFERS.clear();
  }

  @AfterEach
  void uninstall() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
  }

  private void install(FakeItems.Mode mode) {
    Bridge.install(
        SpanSink.NONE, new FakeItems(mode), (where, cause, tripped) -> faults.add(cause));
  }

  private String call(String method, String argument) throws Exception {
    return (String) subject.getMethod(method, String.class).invoke(null, argument);
  }

  @Test
  void decodesBytesInMemoryWithTheFlagsOfTheCall() throws Exception {
    for (FakeItems.Mode mode : List.of(FakeItems.Mode.CONTENT, FakeItems.Mode.BLOCKS)) {
      install(mode);

      assertThat(call("plain", path)).isEqualTo("decoded pixels 1");
      assertThat(call("flags", path)).isEqualTo("decoded pixels -1");
    }
    assertThat(Imgcodecs.BUFFERS).hasSize(4).allMatch((Mat buffer) -> buffer.released);
    assertThat(faults).isEmpty();
  }

  @Test
  void readsTheFileIfNothingIsInMemory() throws Exception {
    for (FakeItems.Mode mode : List.of(FakeItems.Mode.NONE, FakeItems.Mode.OBSERVED)) {
      install(mode);

      assertThat(call("flags", path)).isEqualTo("from file " + path + " -1");
    }
    assertThat(call("plain", "missing")).isEqualTo("from file missing 1");
    assertThat(call("plain", null)).isEqualTo("from file null 1");
  }

  @Test
  void readsTheFileIfTheLibraryCannotDecodeFromMemory() throws Exception {
    install(FakeItems.Mode.CONTENT);
    Path raw = Files.writeString(directory.resolve("odd"), "raw camera format");

    assertThat(call("plain", raw.toString())).isEqualTo("from file " + raw + " 1");
    assertThat(faults).isEmpty();
  }

  /** Only the program's call initialises OpenCV's classes, so it fails as without the agent. */
  @Test
  void unlinkableLibraryFailsAsInThePlainCall() throws Exception {
    install(FakeItems.Mode.CONTENT);
    List<String> plain = unlinked(new Rewritten(false, "org.opencv.", subject.getName()));
    List<String> rewritten = unlinked(new Rewritten(true, "org.opencv.", subject.getName()));

    assertThat(rewritten).isEqualTo(plain);
    assertThat(plain.get(0))
        .isEqualTo("java.lang.UnsatisfiedLinkError: no opencv in java.library.path");
    assertThat(plain.get(1)).startsWith("java.lang.NoClassDefFoundError");
    assertThat(faults).isEmpty();
  }

  /** Returns the exceptions of two calls. */
  private List<String> unlinked(ClassLoader loader) throws Exception {
    Class<?> anew = loader.loadClass(subject.getName());
    List<String> thrown = new ArrayList<>();
    System.setProperty("opencv.unlinked", "true");
    try {
      for (int i = 0; i < 2; i++) {
        try {
          anew.getMethod("plain", String.class).invoke(null, path);
        } catch (InvocationTargetException e) {
          thrown.add(e.getCause().toString().replaceFirst(" \\[.*", ""));
        }
      }
    } finally {
      System.clearProperty("opencv.unlinked");
    }
    return thrown;
  }

  /** java.io drops trailing and repeated slashes, but the C library does not. */
  @Test
  void pathThatNativeCodeCannotOpenIsLeftToIt() throws Exception {
    install(FakeItems.Mode.CONTENT);
    String slash = path + "/";
    String tooLong = directory + "/".repeat(4096) + "image";

    assertThat(call("plain", slash)).isEqualTo("from file " + slash + " 1");
    assertThat(call("plain", tooLong)).isEqualTo("from file " + tooLong + " 1");
    assertThat(call("plain", directory + "//image")).isEqualTo("decoded pixels 1");
  }

  @Test
  void readsTheFileAfterAFaultOfTheAgent() throws Exception {
    install(FakeItems.Mode.FAULTY);

    assertThat(call("plain", path)).isEqualTo("decoded pixels 1");
    assertThat(faults).isNotEmpty();
  }
}
