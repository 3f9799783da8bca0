package io.coordl.benchmarks.micro;

import io.coordl.pipeline.KeptArray;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.DecodedForm;
import io.coordl.store.DecodedItem;
import io.coordl.store.DecodedStore;
import io.coordl.store.Outcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
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
 * Measures getting a decoded item from the store into a fresh direct buffer, compared with just
 * copying the same number of bytes. The {@value #ITEMS} items, in random order, are more than a
 * core's own cache holds. Excludes the libraries' own part, which {@code ImageCost} and {@code
 * MatrixCost} measure.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class DecodedCost {
  private static final int ITEMS = 200;
  private static final DecodedForm FORM = DecodedForm.of("benchmark");

  /** Varied by JMH: side of a square colour picture, in pixels. */
  @Param({"64", "224", "346"})
  public int side = 224;

  private final List<Path> paths = new ArrayList<>();
  private final List<ByteBuffer> plain = new ArrayList<>();
  private SplittableRandom order = new SplittableRandom(1);
  private @Nullable DecodedStore store;

  /** Puts the items into the store, and the same bytes into plain memory. */
  @Setup
  public void prepare() throws IOException {
    Path folder = Files.createTempDirectory("decoded-cost");
    ArenaStore arena =
        Objects.requireNonNull(
            ArenaStore.openProcess(
                ArenaStore.SHARED_MEMORY, ByteBudget.parse("128m"), System.err::println));
    DecodedStore opened = new DecodedStore(arena, path -> true);
    SplittableRandom random = new SplittableRandom(2);
    byte[] pixels = new byte[side * side * 3];
    for (int i = 0; i < ITEMS; i++) {
      random.nextBytes(pixels);
      KeptArray array = new KeptArray(side, side, 3, ByteBuffer.wrap(pixels));
      Path path = Files.write(folder.resolve(i + ".jpg"), new byte[] {1});
      paths.add(path);
      DecodedItem item = Objects.requireNonNull(opened.item(path.toString()));
      item.put(FORM, array.bytes(), array::writeTo);
      plain.add(direct(pixels.length).put(pixels).flip());
    }
    if (opened.statistics().of(Outcome.ADMITTED) != ITEMS) {
      throw new IllegalStateException(
          opened.statistics().of(Outcome.ADMITTED) + " items, expected " + ITEMS);
    }
    store = opened;
  }

  private static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /** Deletes the files and frees the store. */
  @TearDown
  public void cleanUp() throws IOException {
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

  /** Checks the file and finds its pixels, without a copy. */
  @Benchmark
  public KeptArray find() {
    String path = paths.get(order.nextInt(ITEMS)).toString();
    DecodedItem item = Objects.requireNonNull(Objects.requireNonNull(store).item(path));
    ByteBuffer found = Objects.requireNonNull(item.find(FORM));
    return Objects.requireNonNull(KeptArray.read(found));
  }

  /** Copies the pixels into a fresh direct buffer. */
  @Benchmark
  public ByteBuffer hit() {
    ByteBuffer values = find().values();
    return direct(values.remaining()).put(values.duplicate());
  }

  /** Copies the same number of bytes from plain memory into a fresh direct buffer. */
  @Benchmark
  public ByteBuffer copy() {
    ByteBuffer values = plain.get(order.nextInt(ITEMS));
    return direct(values.remaining()).put(values.duplicate());
  }
}
