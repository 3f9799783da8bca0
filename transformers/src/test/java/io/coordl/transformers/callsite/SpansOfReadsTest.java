package io.coordl.transformers.callsite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.SpanSink;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A rewritten read records its bytes once, and a fetch belongs to the decode around it. */
final class SpansOfReadsTest {
  private static final long SPUN_NANOS = 1_000_000;

  @TempDir Path directory;

  private final Recorder recorder = new Recorder();
  private Path image;
  private long size;

  @BeforeEach
  void writeImage() throws IOException {
    image = directory.resolve("image.jpg");
    ImageIO.write(new BufferedImage(300, 200, BufferedImage.TYPE_INT_RGB), "jpg", image.toFile());
    size = Files.size(image);
  }

  @AfterEach
  void uninstall() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
  }

  private void call(String name, FakeItems.Mode mode) throws Exception {
    call(name, new FakeItems(mode));
  }

  @SuppressWarnings("unchecked")
  private void call(String name, ItemSource items) throws Exception {
    Rewritten loader = new Rewritten(Subject.class.getName());
    Map<String, Call> calls =
        (Map<String, Call>)
            loader.loadClass(Subject.class.getName()).getMethod("calls").invoke(null);
    Bridge.install(recorder, items, FaultListener.NONE);
    Object unused = calls.get(name).on(image);
  }

  @ParameterizedTest
  @EnumSource(names = {"OBSERVED", "CONTENT", "BLOCKS"})
  void decodingAFileIsOneSpanAroundItsFetches(FakeItems.Mode mode) throws Exception {
    call("ImageIO.read(File)", mode);

    assertThat(recorder.log.get(0)).isEqualTo("enter DECODE");
    assertThat(recorder.log).filteredOn(line -> line.startsWith("enter")).hasSize(1);
    assertThat(recorder.log.get(recorder.log.size() - 1)).isEqualTo("exit BufferedImage");
    assertThat(recorder.log).contains("fetch");
    assertThat(recorder.items).hasSize(1);
    // The decoder rewinds after reading the header, so some bytes are fetched twice.
    assertThat(recorder.bytes).isBetween(size, size + 20_000);
    assertThat(recorder.origin).isEqualTo(origin(mode));
  }

  @Test
  void failedDecodeEndsItsSpan() throws Exception {
    Files.delete(image);
    try {
      call("ImageIO.read(File)", FakeItems.Mode.CONTENT);
    } catch (IOException expected) {
      assertThat(recorder.log).containsExactly("enter DECODE", "exit null");
      return;
    }
    throw new AssertionError("no exception");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "new FileInputStream(File)",
        "FileInputStream by byte",
        "new FileReader(File)",
        "new Scanner(File)",
        "Files.newInputStream",
        "Files.readAllBytes",
        "Files.copy",
        "Files.readString(Charset)",
        "Files.lines(Charset)",
        "FileChannel interrupted",
        "constructor reference",
      })
  void itemIsCountedOnceWithAllItsBytes(String name) throws Exception {
    for (FakeItems.Mode mode :
        List.of(FakeItems.Mode.OBSERVED, FakeItems.Mode.CONTENT, FakeItems.Mode.BLOCKS)) {
      recorder.items.clear();
      recorder.bytes = 0;
      try {
        call(name, mode);
      } catch (java.nio.channels.ClosedByInterruptException e) {
        recorder.bytes = size;
      }

      assertThat(recorder.items).as(mode.name()).containsExactly(image.toString());
      assertThat(recorder.bytes).as(mode.name()).isEqualTo(size);
      assertThat(recorder.origin).isEqualTo(origin(mode));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "new FileInputStream(File)",
        "new FileReader(File)",
        "new Scanner(File)",
        "Files.newInputStream",
        "Files.readAllBytes",
        "Files.readString(Charset)",
        "ImageIO.read(File)",
      })
  void missingFileIsNotCounted(String name) throws Exception {
    Files.delete(image);
    FakeItems items = new FakeItems(FakeItems.Mode.OBSERVED);

    assertThatThrownBy(() -> call(name, items)).isInstanceOf(IOException.class);

    assertThat(recorder.items).isEmpty();
    assertThat(items.opened.get()).isPositive().isEqualTo(items.released.get());
  }

  /** On a network file system, each check of a file is a request. */
  @ParameterizedTest
  @EnumSource(names = {"OBSERVED", "CONTENT", "BLOCKS"})
  void openingTimeIsFetchTimeAndCountsOnce(FakeItems.Mode mode) throws Exception {
    FakeItems items = new FakeItems(mode);
    ItemSource slow =
        new ItemSource() {
          @Override
          public OpenItem open(String path) {
            spin();
            OpenItem item = items.open(path);
            long read = System.nanoTime();
            spin();
            item.fetched(read, System.nanoTime(), 0);
            return item;
          }

          @Override
          public OpenItem openRandomAccess(String path) {
            return open(path);
          }

          @Override
          public void mapsToWrite(java.nio.channels.FileChannel channel) {}

          @Override
          public boolean takesOpened(String path) {
            return false;
          }

          @Override
          public OpenItem openOpened(String path, java.io.FileDescriptor opened) {
            return null;
          }

          @Override
          public OpenItem openForeign(Path path) {
            return null;
          }
        };

    long begin = System.nanoTime();
    call("Files.readAllBytes", slow);
    long whole = System.nanoTime() - begin;

    assertThat(recorder.nanos).isBetween(2 * SPUN_NANOS, whole);
    assertThat(recorder.itemNanos).isEqualTo(recorder.nanos);
  }

  private static void spin() {
    long end = System.nanoTime() + SPUN_NANOS;
    while (System.nanoTime() - end < 0) {
      Thread.onSpinWait();
    }
  }

  private static Origin origin(FakeItems.Mode mode) {
    return mode == FakeItems.Mode.OBSERVED ? Origin.STORAGE : Origin.MEMORY;
  }

  private static final class Recorder implements SpanSink {
    final List<String> log = new ArrayList<>();
    final List<String> items = new ArrayList<>();
    long bytes;
    long nanos;
    long itemNanos;
    Origin origin;

    @Override
    public long enter(SpanKind kind, Object subject) {
      log.add("enter " + kind);
      return 1;
    }

    @Override
    public void exit(long token, Object result) {
      log.add("exit " + (result == null ? null : result.getClass().getSimpleName()));
    }

    @Override
    public void fetchTime(long startNanos, long endNanos) {
      log.add("fetch");
      nanos += endNanos - startNanos;
    }

    @Override
    public void itemOpened(String path) {}

    @Override
    public void itemFetched(String path, long startNanos, long nanos, long count, Origin from) {
      items.add(path);
      bytes += count;
      itemNanos += nanos;
      origin = from;
    }

    @Override
    public boolean loadingSample() {
      return true;
    }
  }
}
