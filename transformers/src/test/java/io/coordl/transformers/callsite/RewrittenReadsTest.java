package io.coordl.transformers.callsite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.OpenItem;
import io.coordl.bridge.SpanSink;
import java.awt.image.BufferedImage;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The rewritten program sees the same as the plain one, however its items are served. */
final class RewrittenReadsTest {
  @TempDir static Path directory;

  private static final Map<String, Path> FILES = new LinkedHashMap<>();

  private final List<Throwable> faults = new ArrayList<>();

  @BeforeAll
  static void makeFiles() throws IOException {
    file("text", "one\ntwo: \u00e4\u00f6\u20ac\r\nthree\n".getBytes(StandardCharsets.UTF_8));
    file("empty", new byte[0]);
    file("one byte", new byte[] {42});
    byte[] noise = new byte[10_000];
    new Random(7).nextBytes(noise);
    file("noise", noise);
    file("with %41 and space", "escaped\n".getBytes(StandardCharsets.UTF_8));
    BufferedImage image = new BufferedImage(123, 77, BufferedImage.TYPE_INT_RGB);
    Random random = new Random(3);
    for (int y = 0; y < 77; y++) {
      for (int x = 0; x < 123; x++) {
        image.setRGB(x, y, random.nextInt());
      }
    }
    Path jpeg = directory.resolve("image.jpg");
    ImageIO.write(image, "jpg", jpeg.toFile());
    FILES.put("jpeg", jpeg);
    Path png = directory.resolve("image.png");
    ImageIO.write(image, "png", png.toFile());
    FILES.put("png", png);
    byte[] whole = Files.readAllBytes(jpeg);
    file("truncated.jpg", java.util.Arrays.copyOf(whole, whole.length / 2));
    FILES.put("missing", directory.resolve("missing"));
    FILES.put("directory", directory);
  }

  private static void file(String name, byte[] bytes) throws IOException {
    FILES.put(name, Files.write(directory.resolve(name), bytes));
  }

  @AfterEach
  void uninstall() {
    Bridge.install(SpanSink.NONE, new FakeItems(FakeItems.Mode.NONE), FaultListener.NONE);
  }

  private FakeItems install(FakeItems.Mode mode) {
    FakeItems items = new FakeItems(mode);
    Bridge.install(SpanSink.NONE, items, (where, cause, tripped) -> faults.add(cause));
    return items;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Call> rewrittenCalls(Rewritten loader) throws Exception {
    return (Map<String, Call>)
        loader.loadClass(Subject.class.getName()).getMethod("calls").invoke(null);
  }

  private interface Reading {
    Object run() throws IOException;
  }

  private static String thrown(Reading reading) {
    try {
      return String.valueOf(reading.run());
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      return e.toString();
    }
  }

  /** The file is sparse and never read. */
  @Test
  void fileTooLargeForAnArrayFailsAsInThePlainCall() throws IOException {
    Path large = directory.resolve("large");
    try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
      file.setLength((1L << 31) + 5);
    }
    Bridge.install(
        SpanSink.NONE,
        new FakeItems(FakeItems.Mode.BLOCKS) {
          @Override
          public OpenItem open(String path) {
            return new OpenItem(path, (1L << 31) + 5) {
              @Override
              public boolean served() {
                return true;
              }
            };
          }
        },
        (where, cause, tripped) -> faults.add(cause));
    String path = large.toString();
    List<Reading> plain =
        List.of(
            () -> new FileInputStream(path).readAllBytes(),
            () -> Files.newInputStream(large).readAllBytes(),
            () -> Files.readAllBytes(large),
            () -> Files.readString(large));
    List<Reading> rewritten =
        List.of(
            () -> FileReads.newFileInputStream(path).readAllBytes(),
            () -> FileReads.newInputStream(large).readAllBytes(),
            () -> FileReads.readAllBytes(large),
            () -> FileReads.readString(large));

    for (int i = 0; i < plain.size(); i++) {
      assertThat(thrown(rewritten.get(i))).isEqualTo(thrown(plain.get(i)));
    }
    assertThat(thrown(rewritten.get(0))).startsWith("java.lang.OutOfMemoryError").contains(path);
    assertThat(faults).isEmpty();
    Files.delete(large);
  }

  @ParameterizedTest
  @EnumSource(names = {"OBSERVED", "CONTENT", "BLOCKS"})
  void refusedTransferFailsAsInThePlainCall(FakeItems.Mode mode) throws IOException {
    install(mode);
    Path from = FILES.get("text");
    Path to = directory.resolve("transferred");
    try (FileChannel plain = FileChannel.open(from);
        FileChannel item = FileReads.open(from);
        FileChannel writable =
            FileChannel.open(to, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileChannel readable = FileChannel.open(to);
        FileChannel itemToo = FileReads.open(from)) {
      FileChannel closed = FileChannel.open(to);
      closed.close();
      for (long[] range : new long[][] {{-1, 5}, {0, -1}, {0, 0}, {0, 5}, {1 << 20, 5}}) {
        for (FileChannel target : new FileChannel[] {writable, readable, closed, itemToo}) {
          FileChannel same = target == itemToo ? plain : target;
          assertThat(thrown(() -> item.transferTo(range[0], range[1], target)))
              .as("%d, %d to %s", range[0], range[1], target)
              .isEqualTo(thrown(() -> plain.transferTo(range[0], range[1], same)));
        }
      }
    }
    Files.delete(to);
  }

  @ParameterizedTest
  @EnumSource(names = {"NONE", "OBSERVED", "CONTENT", "BLOCKS"})
  void everyCallSeesWhatThePlainCallSees(FakeItems.Mode mode) throws Exception {
    Map<String, Call> plain = Subject.calls();
    Map<String, Call> rewritten = rewrittenCalls(new Rewritten(Subject.class.getName()));
    FakeItems items = install(mode);

    List<String> differences = new ArrayList<>();
    for (Map.Entry<String, Path> file : FILES.entrySet()) {
      for (String name : plain.keySet()) {
        String expected = outcome(plain.get(name), file.getValue());
        String actual = outcome(rewritten.get(name), file.getValue());
        if (!actual.equals(expected)) {
          differences.add(
              name
                  + " of "
                  + file.getKey()
                  + "\n  plain     "
                  + expected
                  + "\n  rewritten "
                  + actual);
        }
      }
    }

    assertThat(differences).isEmpty();
    assertThat(faults).isEmpty();
    if (mode == FakeItems.Mode.NONE) {
      assertThat(items.opened.get()).isZero();
    } else {
      assertThat(items.opened.get()).isGreaterThan(500);
    }
  }

  @Test
  void afterAFaultOfTheAgentTheFileItselfIsRead() throws Exception {
    Map<String, Call> rewritten = rewrittenCalls(new Rewritten(Subject.class.getName()));
    for (String name :
        List.of(
            "new FileInputStream(File)",
            "Files.readAllBytes",
            "RandomAccessFile",
            "FileChannel.open",
            "ImageIO.read(File)",
            "new FileReader(File)")) {
      Path path = FILES.get(name.startsWith("ImageIO") ? "jpeg" : "text");
      install(FakeItems.Mode.FAULTY);

      String actual = outcome(rewritten.get(name), path);

      assertThat(actual).as(name).isEqualTo(outcome(Subject.calls().get(name), path));
      assertThat(faults).as(name).isNotEmpty();
      faults.clear();
    }
  }

  /** A server would see a second request for a missing file. */
  @Test
  void urlThatNamesNoFileIsOpenedOnce() throws IOException {
    AtomicInteger opened = new AtomicInteger();
    URLStreamHandler nothing =
        new URLStreamHandler() {
          @Override
          protected URLConnection openConnection(URL url) throws IOException {
            opened.incrementAndGet();
            throw new FileNotFoundException(url.toString());
          }
        };
    URL url = new URL(null, "http://localhost/missing", nothing);
    install(FakeItems.Mode.OBSERVED);
    assertThatThrownBy(() -> FileReads.openStream(url)).isInstanceOf(FileNotFoundException.class);
    assertThat(opened.get()).isEqualTo(1);
  }

  @Test
  void closingReleasesTheItem() throws Exception {
    Map<String, Call> rewritten = rewrittenCalls(new Rewritten(Subject.class.getName()));
    for (FakeItems.Mode mode :
        List.of(FakeItems.Mode.OBSERVED, FakeItems.Mode.CONTENT, FakeItems.Mode.BLOCKS)) {
      for (String name : rewritten.keySet()) {
        if (name.startsWith("unused")) {
          continue; // It never closes its stream.
        }
        FakeItems items = install(mode);
        String unused = outcome(rewritten.get(name), FILES.get("jpeg"));
        assertThat(items.released.get()).as(mode + " " + name).isEqualTo(items.opened.get());
      }
    }
  }

  @Test
  void itemsInMemoryNeedNoFile() throws Exception {
    Map<String, Call> rewritten = rewrittenCalls(new Rewritten(Subject.class.getName()));
    Path kept = FILES.get("jpeg");
    Path gone = directory.resolve("gone.jpg");
    for (String name :
        List.of(
            "new FileInputStream(File)",
            "FileInputStream.readAllBytes",
            "URL.openStream",
            "new FileReader(File)",
            "new Scanner(File)",
            "new Scanner(Path)",
            "Files.newInputStream",
            "Files.readAllBytes",
            "Files.copy",
            "Files.readString(Charset)",
            "Files.lines(Charset)",
            "FileChannel.open",
            "FileChannel map",
            "Files.newByteChannel",
            "constructor reference",
            "static reference",
            "ImageIO.read(File)",
            "ImageIO.read(URL)",
            "ImageInputStream")) {
      Bridge.install(
          SpanSink.NONE, new Moved(gone, kept), (where, cause, tripped) -> faults.add(cause));

      assertThat(outcome(rewritten.get(name), gone))
          .as(name)
          .isEqualTo(outcome(Subject.calls().get(name), kept));
    }
    assertThat(faults).isEmpty();
  }

  /** Serves the content of an existing file for a missing one. */
  private record Moved(Path gone, Path kept) implements io.coordl.bridge.ItemSource {
    @Override
    public io.coordl.bridge.OpenItem open(String path) {
      return path.equals(gone.toString())
          ? new FakeItems(FakeItems.Mode.CONTENT).open(kept.toString())
          : null;
    }

    @Override
    public io.coordl.bridge.OpenItem openRandomAccess(String path) {
      return open(path);
    }

    @Override
    public void mapsToWrite(FileChannel channel) {}

    @Override
    public boolean takesOpened(String path) {
      return false;
    }

    @Override
    public io.coordl.bridge.OpenItem openOpened(String path, java.io.FileDescriptor opened) {
      return null;
    }

    @Override
    public io.coordl.bridge.OpenItem openForeign(java.nio.file.Path path) {
      return null;
    }
  }

  @Test
  void programUsesEveryRuleOfTheJdk() throws Exception {
    Rewritten loader = new Rewritten(Subject.class.getName());
    Class<?> unused = loader.loadClass(Subject.class.getName());
    Class<?> sub = loader.loadClass(Subject.class.getName() + "$Sub");

    assertThat(loader.rewritten.keySet())
        .containsAll(
            CallSites.TABLE.stream()
                .filter(site -> !site.kind().isLinked())
                .map(CallSite::signature)
                .toList());
    assertThat(loader.left)
        .contains(
            "new FileInputStream(File): super(...) or this(...)",
            "Files.readString(Path): serialisable method reference");
    assertThat(sub.getSuperclass()).isEqualTo(java.io.FileInputStream.class);
  }

  private static String outcome(Call call, Path path) {
    try {
      return String.valueOf(call.on(path));
    } catch (NullPointerException e) {
      return "NullPointerException"; // Its message names the JDK's local variables.
    } catch (Throwable t) {
      return t.getClass().getName() + ": " + t.getMessage() + " / " + cause(t);
    }
  }

  private static String cause(Throwable t) {
    return t.getCause() == null ? "" : t.getCause().toString();
  }
}
