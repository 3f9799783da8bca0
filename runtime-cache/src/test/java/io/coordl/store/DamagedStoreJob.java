package io.coordl.store;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.SpanSink;
import io.coordl.host.MappedLength;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A job in a separate JVM, because a failure would end the JVM. The store is truncated while the
 * job runs: with the arguments {@code steps DIRECTORY LENGTH} by the job itself, before each access
 * in turn; with {@code job DIRECTORY DATA} by the test. Prints its results.
 */
public final class DamagedStoreJob {
  static final int FILES = 40;
  static final int LENGTH = 20_000;

  static final String GROUP = "damaged";

  private DamagedStoreJob() {}

  /** Runs the job. */
  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[1]);
    if (args[0].equals("steps")) {
      int steps = 0;
      while (truncatedAt(steps, directory, Long.parseLong(args[2]))) {
        steps++;
      }
      System.out.println("steps " + steps);
    } else {
      readFiles(directory, Path.of(args[2]));
    }
  }

  /** Memory whose file is truncated right before one access. */
  private static final class Truncated extends WrappedMemory {
    private final Path file;
    private final long length;
    private int left;
    private boolean checked;

    Truncated(ArenaMemory memory, Path file, int step, long length) {
      super(memory);
      this.file = file;
      this.left = step;
      this.length = length;
    }

    boolean isDone() {
      return left < 0;
    }

    private void step() {
      if (left-- == 0) {
        try (RandomAccessFile other = new RandomAccessFile(file.toFile(), "rw")) {
          other.setLength(length);
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }
    }

    @Override
    void check(long at) {
      step();
      memory.check(at);
      checked = true;
    }

    /** Does not truncate between a check and its write: no process survives that. */
    @Override
    ByteBuffer segment(int number) {
      if (!checked) {
        step();
      }
      checked = false;
      return memory.segment(number);
    }

    @Override
    void write(long at, byte[] bytes, int offset, int length) throws IOException {
      step();
      memory.write(at, bytes, offset, length);
    }
  }

  /** Truncates before a step; returns false if the job ends before that step. */
  private static boolean truncatedAt(int step, Path directory, long length) throws IOException {
    Path file = directory.resolve("steps.arena");
    if (!Files.exists(file)) {
      Files.createFile(file);
    }
    List<String> logged = new ArrayList<>();
    ArenaMemory mapped = MappedMemory.map(file, 1 << 20);
    ArenaStore.format(mapped);
    Truncated memory = new Truncated(mapped, file, step, length);
    try (ArenaStore store = new ArenaStore(memory, null, 1, job -> false, "", logged::add)) {
      store.choose(new Rates(1, 2, 3, 4));
      for (long number : new long[] {1, 2, 1, 2, 3}) {
        Fetched fetched =
            store.fetch(Items.key(number), Items.length(number), Items.loader(number));
        compare(fetched.content(), number);
        store.forgetChecks();
        compare(store.find(Items.key(number)), number);
      }
      store.count(ArenaDescriptor.DECODED_ITEMS, 1);
      store.isAwaited(Items.key(9));
      long items = store.items();
      boolean done = memory.isDone();
      if (done) {
        store.fetch(Items.key(8), Items.length(8), Items.loader(8));
        expect(!store.hasRoom(1) && store.rates() == null, "still in use after step " + step);
      } else {
        expect(items == 3, "items " + items);
      }
      expect(logged.size() == (done ? 1 : 0), step + " steps: " + logged);
      return done;
    } finally {
      Files.delete(file);
    }
  }

  private static void compare(ByteBuffer content, long number) {
    if (content == null) {
      return;
    }
    try {
      byte[] bytes = Items.bytes(content);
      MappedLength.settle();
      expect(Arrays.equals(bytes, Items.content(number)), "wrong bytes of " + number);
    } catch (InternalError e) {
      // Reading a view may fail; the reader then reads the file, as ItemCursor does.
    }
  }

  private static void expect(boolean right, String what) {
    if (!right) {
      throw new AssertionError(what);
    }
  }

  /** Reads half of the files, waits for input, then reads open, cached and new items. */
  private static void readFiles(Path shared, Path data) throws IOException {
    List<String> logged = new ArrayList<>();
    ArenaStore store = Items.openHost(shared, GROUP, () -> 4 << 20, logged::add);
    Bridge.install(SpanSink.NONE, new MinioCache(store, path -> true), FaultListener.NONE);
    for (int i = 0; i < FILES / 2; i++) {
      compare(data, i);
    }
    Path first = data.resolve("item0");
    byte[] expected = Files.readAllBytes(first);
    try (InputStream stream = FileReads.newFileInputStream(first.toFile());
        FileChannel channel = FileReads.open(first)) {
      byte[] firstBytes = stream.readNBytes(100);
      System.out.println("ready");
      System.in.read();
      ByteBuffer both = ByteBuffer.allocate(LENGTH).put(firstBytes).put(stream.readAllBytes());
      expect(Arrays.equals(both.array(), expected), "the stream");
      ByteBuffer all = ByteBuffer.allocate(LENGTH);
      while (all.hasRemaining() && channel.read(all) >= 0) {}
      expect(Arrays.equals(all.array(), expected), "the channel");
    }
    for (int i = FILES - 1; i >= 0; i--) {
      compare(data, i);
    }
    store.close();
    System.out.println(
        "read all, logged " + logged.stream().filter(w -> w.contains("damaged")).count());
  }

  private static void compare(Path data, int number) throws IOException {
    Path file = data.resolve("item" + number);
    expect(Arrays.equals(FileReads.readAllBytes(file), Files.readAllBytes(file)), "" + file);
  }
}
