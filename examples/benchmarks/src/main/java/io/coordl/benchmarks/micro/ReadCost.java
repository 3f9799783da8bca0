package io.coordl.benchmarks.micro;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.DesktopReads;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.MinioCache;
import io.coordl.store.Outcome;
import io.coordl.telemetry.recording.AgentLog;
import io.coordl.telemetry.recording.JobMonitor;
import io.coordl.telemetry.recording.RewriteLog;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Compares a cache hit with the same read from a warm page cache, for {@value #FILES} JPEG files in
 * random order, more than a core's own cache holds. Both put the same bytes into the program's
 * arrays.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class ReadCost {
  private static final int FILES = 400;
  private static final int CHUNK = 8192;

  /** Varied by JMH: approximate bytes of a file. */
  @Param({"30000", "110000"})
  public int bytes = 30_000;

  private final List<Path> paths = new ArrayList<>();
  private final byte[] chunk = new byte[CHUNK];
  private SplittableRandom order = new SplittableRandom(1);
  private @Nullable ArenaStore store;

  /** Creates the files, reads each, and caches each in this process. */
  @Setup
  public void prepare() throws IOException {
    ImageIO.setUseCache(false);
    Path folder = Files.createTempDirectory("read-cost");
    byte[] jpeg = picture();
    for (int i = 0; i < FILES; i++) {
      paths.add(Files.write(folder.resolve(i + ".jpg"), jpeg));
    }
    JobMonitor monitor = new JobMonitor(List.of(), "", new AgentLog(), new RewriteLog());
    monitor.startWithoutRecording();
    store =
        ArenaStore.openProcess(
            ArenaStore.SHARED_MEMORY, ByteBudget.parse("128m"), System.err::println);
    MinioCache cache = new MinioCache(store, path -> true);
    Bridge.install(monitor.figures().spans(), cache, monitor.figures().log());
    for (int round = 0; round < 2; round++) {
      for (Path path : paths) {
        FileReads.readAllBytes(path);
        Files.readAllBytes(path);
      }
    }
    if (cache.statistics().of(Outcome.HIT) != FILES) {
      throw new IllegalStateException(
          cache.statistics().of(Outcome.HIT) + " hits, expected " + FILES);
    }
  }

  /**
   * Returns a picture whose JPEG has about {@link #bytes} bytes and the dimensions of such a
   * photograph.
   */
  private byte[] picture() throws IOException {
    SplittableRandom random = new SplittableRandom(2);
    for (int side = 64; ; side += 16) {
      BufferedImage image = new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB);
      for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
          int grey = (x + y + random.nextInt(48)) & 0xff;
          image.setRGB(x, y, grey << 16 | grey << 8 | random.nextInt(64));
        }
      }
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      ImageIO.write(image, "jpg", out);
      if (out.size() >= bytes) {
        return out.toByteArray();
      }
    }
  }

  /** Deletes the files and frees the cache. */
  @TearDown
  public void cleanUp() throws IOException {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    if (store != null) {
      store.close();
    }
    for (Path path : paths) {
      Files.delete(path);
    }
    Path folder = paths.get(0).getParent();
    if (folder != null) {
      Files.delete(folder);
    }
  }

  private Path randomPath() {
    return paths.get(order.nextInt(FILES));
  }

  private int readFully(InputStream in) throws IOException {
    int total = 0;
    for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
      total += count;
    }
    return total;
  }

  /** Reads with {@code new FileInputStream}, in chunks of 8 KiB. */
  @Benchmark
  public int streamPlain() throws IOException {
    try (FileInputStream in = new FileInputStream(randomPath().toFile())) {
      return readFully(in);
    }
  }

  /** Like {@link #streamPlain}, but from the cache. */
  @Benchmark
  public int streamHit() throws IOException {
    try (FileInputStream in = FileReads.newFileInputStream(randomPath().toFile())) {
      return readFully(in);
    }
  }

  /** Reads with {@code Files.readAllBytes}. */
  @Benchmark
  public byte[] allBytesPlain() throws IOException {
    return Files.readAllBytes(randomPath());
  }

  /** Like {@link #allBytesPlain}, but from the cache. */
  @Benchmark
  public byte[] allBytesHit() throws IOException {
    return FileReads.readAllBytes(randomPath());
  }

  /** Reads and decodes with {@code ImageIO.read(File)}. */
  @Benchmark
  public @Nullable BufferedImage imagePlain() throws IOException {
    File file = randomPath().toFile();
    return ImageIO.read(file);
  }

  /** Like {@link #imagePlain}, but from the cache. */
  @Benchmark
  public @Nullable BufferedImage imageHit() throws IOException {
    File file = randomPath().toFile();
    return DesktopReads.read(file);
  }
}
