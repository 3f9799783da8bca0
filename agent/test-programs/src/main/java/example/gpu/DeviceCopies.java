package example.gpu;

import com.sun.jna.NativeLibrary;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Measures copies of a batch to a GPU from each kind of memory, using only the driver. Like
 * PyTorch's blocking copy, starts an asynchronous copy and waits for its stream. Arguments: bytes
 * of a batch, rounds; each round copies once from each kind of memory. Prints a tab-separated line
 * per kind: name, median and minimum milliseconds, GB/s of the median, and milliseconds to
 * page-lock the memory once, or why it cannot be locked. Fails if the copied bytes differ.
 */
public final class DeviceCopies {
  private static final NativeLibrary DRIVER = NativeLibrary.getInstance("libcuda.so.1");
  private static final int PAGE = 4096;
  private static final int PORTABLE = 1;

  private final int bytes;
  private final LongByReference device = new LongByReference();
  private final FileChannel shared;
  private final ByteBuffer batch;
  private final List<MemoryKind> kinds = new ArrayList<>();

  /** Provides the memory that holds the batch; not timed. */
  private interface Before {
    ByteBuffer memory() throws IOException;
  }

  /**
   * A kind of memory.
   *
   * @param through memory that the batch is first copied to; null for none
   */
  private record MemoryKind(
      String name, Before before, ByteBuffer through, String locking, List<Long> nanos) {}

  private DeviceCopies(int bytes) throws IOException {
    this.bytes = bytes;
    batch = pages();
    for (int i = 0; i < bytes; i++) {
      batch.put(i, (byte) (i * 31 + (i >> 8)));
    }
    Path file = Files.createTempFile(Path.of("/dev/shm"), "device-copies-", "");
    shared = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    Files.delete(file);
    shared.write(batch.duplicate());
  }

  public static void main(String[] args) throws IOException {
    new DeviceCopies(Integer.parseInt(args[0])).run(Integer.parseInt(args[1]));
  }

  private static int call(String function, Object... arguments) {
    return DRIVER.getFunction(function).invokeInt(arguments);
  }

  private static void check(String function, Object... arguments) {
    int result = call(function, arguments);
    if (result != 0) {
      throw new IllegalStateException(function + " failed with error " + result);
    }
  }

  /** Returns memory in whole pages that contain nothing else. */
  private ByteBuffer pages() {
    int whole = bytes + PAGE - 1 & -PAGE;
    return ByteBuffer.allocateDirect(whole + PAGE).alignedSlice(PAGE).limit(bytes);
  }

  private ByteBuffer map(MapMode mode) throws IOException {
    return shared.map(mode, 0, bytes);
  }

  private void run(int rounds) throws IOException {
    IntByReference number = new IntByReference();
    PointerByReference context = new PointerByReference();
    check("cuInit", 0);
    check("cuDeviceGet", number, 0);
    check("cuDevicePrimaryCtxRetain", context, number.getValue());
    check("cuCtxSetCurrent", context.getValue());
    check("cuMemAlloc_v2", device, (long) bytes);
    ByteBuffer pageable = pages().put(0, batch, 0, bytes);
    ByteBuffer mapped = map(MapMode.READ_WRITE);
    add("pageable memory", () -> pageable, null);
    add("copy-on-write mapping, a new one each time", () -> map(MapMode.PRIVATE), null);
    add("shared mapping", () -> mapped, null);
    addLocked("shared mapping, page-locked", map(MapMode.READ_WRITE), null);
    addLocked("memory, page-locked", pages().put(0, batch, 0, bytes), null);
    addLocked("shared mapping, copied to page-locked memory first", pages(), mapped);
    for (MemoryKind kind : kinds) {
      verify(kind);
    }
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < kinds.size(); i++) {
        MemoryKind kind = kinds.get((i + round) % kinds.size());
        kind.nanos.add(copy(kind));
      }
    }
    kinds.forEach(this::print);
    check("cuMemFree_v2", device.getValue());
  }

  private void add(String name, Before before, ByteBuffer through) {
    kinds.add(new MemoryKind(name, before, through, "-", new ArrayList<>()));
  }

  /** Locks {@code memory}, which holds the batch or receives it from {@code first} each time. */
  private void addLocked(String name, ByteBuffer memory, ByteBuffer first) {
    long began = System.nanoTime();
    int result =
        call(
            "cuMemHostRegister_v2", memory.duplicate().clear(), (long) memory.capacity(), PORTABLE);
    String locking = result == 0 ? millis(System.nanoTime() - began) : "refused, error " + result;
    kinds.add(
        first == null
            ? new MemoryKind(name, () -> memory, null, locking, new ArrayList<>())
            : new MemoryKind(name, () -> first, memory, locking, new ArrayList<>()));
  }

  private long copy(MemoryKind kind) throws IOException {
    ByteBuffer from = kind.before.memory();
    long began = System.nanoTime();
    toDevice(kind.through == null ? from : kind.through.put(0, from, 0, bytes));
    return System.nanoTime() - began;
  }

  private void toDevice(ByteBuffer from) {
    check("cuMemcpyHtoDAsync_v2", device.getValue(), from.duplicate().clear(), (long) bytes, 0L);
    check("cuStreamSynchronize", 0L);
  }

  private void verify(MemoryKind kind) throws IOException {
    toDevice(ByteBuffer.allocateDirect(bytes));
    copy(kind);
    ByteBuffer back = ByteBuffer.allocateDirect(bytes);
    check("cuMemcpyDtoH_v2", back, device.getValue(), (long) bytes);
    if (!back.equals(batch)) {
      throw new IllegalStateException("the copied bytes differ from the batch: " + kind.name);
    }
  }

  private void print(MemoryKind kind) {
    long[] sorted = kind.nanos.stream().mapToLong(Long::longValue).sorted().toArray();
    long median = sorted[sorted.length / 2];
    System.out.println(
        String.join(
            "\t",
            Arrays.asList(
                kind.name,
                millis(median),
                millis(sorted[0]),
                String.format(Locale.ROOT, "%.1f", (double) bytes / median),
                kind.locking)));
  }

  private static String millis(long nanos) {
    return String.format(Locale.ROOT, "%.3f", nanos / 1e6);
  }
}
