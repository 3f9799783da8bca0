package io.coordl.coordination;

import static io.coordl.coordination.StagingDescriptor.BATCH_ROOM;
import static io.coordl.coordination.StagingDescriptor.ITEM_ROOM;
import static io.coordl.coordination.StagingDescriptor.MAX_SLOTS;
import static io.coordl.coordination.StagingDescriptor.PAGE;
import static io.coordl.coordination.StagingDescriptor.RESERVED;
import static io.coordl.coordination.StagingDescriptor.SLOT_BYTES;

import io.coordl.host.Closeables;
import io.coordl.host.MappedLength;
import io.coordl.host.OwnFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A memory-mapped staging file. Its length covers everything it may contain; pages are allocated
 * when first written. The first write to each page goes through write(2): if tmpfs is full, that
 * fails with an error, but a write through a mapping fails with SIGBUS.
 *
 * <p>Another program of the user may truncate the file ({@link MappedLength}). So once jobs share
 * the file, every change checks the length first, and every read settles immediately ({@link
 * MappedLength#settle}). After the first failure, all words read as zero, so the protocol stops,
 * and the listener stops using the file. If the file is truncated while native code copies from a
 * slot, the process dies.
 */
final class StagingFile implements StagingMemory {
  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final byte[] ZEROS = new byte[1 << 20];

  /** Largest size of the part before the slots: about a hundred million items. */
  private static final long MAX_HEAD = 1 << 30;

  private final RandomAccessFile file;
  private final long length;
  private final ByteBuffer head;
  private final long itemRoom;
  private final long batchRoom;
  private final HeartbeatThread heartbeat;
  private final StagingDescriptor.Epoch[] epochs = new StagingDescriptor.Epoch[2];
  private final AtomicReferenceArray<@Nullable ByteBuffer> slots =
      new AtomicReferenceArray<>(MAX_SLOTS);

  private final AtomicReference<@Nullable InternalError> damage = new AtomicReference<>();
  private volatile Consumer<InternalError> listener = error -> {};
  private volatile Consumer<ByteBuffer> reading = slot -> {};

  private StagingFile(
      RandomAccessFile file,
      long length,
      ByteBuffer head,
      long itemRoom,
      long batchRoom,
      HeartbeatThread heartbeat) {
    this.file = file;
    this.length = length;
    this.head = head;
    this.itemRoom = itemRoom;
    this.batchRoom = batchRoom;
    this.heartbeat = heartbeat;
    for (int i = 0; i < epochs.length; i++) {
      epochs[i] = StagingDescriptor.Epoch.at(i, itemRoom, batchRoom);
    }
  }

  /**
   * Maps a file; {@code itemRoom} and {@code batchRoom} apply to a new file. The heartbeat thread
   * maps the slots, because mapping on an interrupted thread closes the channel.
   */
  static StagingFile map(
      Path path, long bytes, long itemRoom, long batchRoom, HeartbeatThread heartbeat)
      throws IOException {
    RandomAccessFile file = OwnFiles.open(path);
    try {
      long items = itemRoom;
      long batches = batchRoom;
      if (file.length() == 0) {
        file.setLength(bytes);
        long head = StagingDescriptor.slotsOffset(items, batches);
        for (long at = 0; at < head; at += ZEROS.length) {
          file.write(ZEROS, 0, (int) Math.min(ZEROS.length, head - at));
        }
      } else {
        items = word(file, ITEM_ROOM);
        batches = word(file, BATCH_ROOM);
      }
      long length = StagingDescriptor.slotsOffset(items, batches);
      if (items < 0 || batches < 0 || length > Math.min(MAX_HEAD, bytes)) {
        throw new IOException("The order of the data set is too long to be shared.");
      }
      ByteBuffer head = file.getChannel().map(MapMode.READ_WRITE, 0, length);
      return new StagingFile(file, bytes, head, items, batches, heartbeat);
    } catch (IOException | RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  private static long word(RandomAccessFile file, long at) throws IOException {
    byte[] bytes = new byte[8];
    file.seek(at);
    file.readFully(bytes);
    return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getLong();
  }

  long length() {
    return length;
  }

  /**
   * Sets the listener that is called once when the memory is damaged; immediately if it already is.
   */
  void whenDamaged(Consumer<InternalError> newListener) {
    listener = newListener;
    InternalError before = damage.get();
    if (before != null) {
      newListener.accept(before);
    }
  }

  /**
   * Sets the listener that receives, before each read, the whole mapped slot with all pages in
   * memory.
   */
  void whenRead(Consumer<ByteBuffer> newReading) {
    reading = newReading;
  }

  private void damaged(InternalError error) {
    if (damage.compareAndSet(null, error)) {
      listener.accept(error);
    }
  }

  private void check() throws IOException {
    if (!isSound()) {
      throw new IOException("another program has damaged the staging buffer");
    }
  }

  @Override
  public boolean isSound() {
    if (damage.get() != null) {
      return false;
    }
    try {
      MappedLength.check(file, length);
      return true;
    } catch (InternalError e) {
      damaged(e);
      return false;
    }
  }

  @Override
  public StagingDescriptor.Epoch epoch(int descriptor) {
    return epochs[descriptor];
  }

  @Override
  public long itemRoom() {
    return itemRoom;
  }

  @Override
  public long batchRoom() {
    return batchRoom;
  }

  @Override
  public long get(long at) {
    if (damage.get() != null) {
      return 0;
    }
    try {
      long value = (long) WORDS.getVolatile(head, (int) at);
      MappedLength.settle();
      return value;
    } catch (InternalError e) {
      damaged(e);
      return 0;
    }
  }

  @Override
  public void set(long at, long value) {
    change(() -> WORDS.setVolatile(head, (int) at, value));
  }

  @Override
  public boolean compareAndSet(long at, long expected, long value) {
    return isSound() && WORDS.compareAndSet(head, (int) at, expected, value);
  }

  @Override
  public void putInts(long at, int[] values) {
    change(() -> ints(at, values.length).put(values));
  }

  private void change(Runnable change) {
    if (isSound()) {
      settled(change);
    }
  }

  private void settled(Runnable access) {
    try {
      access.run();
      MappedLength.settle();
    } catch (InternalError e) {
      damaged(e);
    }
  }

  @Override
  public int[] getInts(long at, int count) {
    int[] values = new int[count];
    settled(() -> ints(at, count).get(values));
    return values;
  }

  private IntBuffer ints(long at, int count) {
    return head.slice((int) at, 4 * count).order(ByteOrder.nativeOrder()).asIntBuffer();
  }

  void putBytes(long at, byte[] bytes) {
    head.put((int) at, bytes);
  }

  byte[] getBytes(long at, int count) {
    byte[] bytes = new byte[count];
    settled(() -> head.get((int) at, bytes));
    return bytes;
  }

  @Override
  public ByteBuffer writable(int slot, int bytes) throws IOException {
    return whole(slot, true).slice(0, bytes).order(ByteOrder.nativeOrder());
  }

  @Override
  public ByteBuffer readable(int slot, int bytes) throws IOException {
    ByteBuffer whole = whole(slot, false);
    reading.accept(whole);
    return whole.slice(0, bytes).order(ByteOrder.nativeOrder());
  }

  private ByteBuffer whole(int slot, boolean toBeWritten) throws IOException {
    long size = get(SLOT_BYTES);
    check();
    long at = StagingDescriptor.slotOffset(itemRoom, batchRoom, slot, size);
    if (toBeWritten && (get(RESERVED) & 1L << slot) == 0) {
      reserve(at, size);
      long reserved = get(RESERVED);
      while (!compareAndSet(RESERVED, reserved, reserved | 1L << slot)) {
        check();
        reserved = get(RESERVED);
      }
    }
    ByteBuffer known = slots.get(slot);
    if (known == null) {
      known = heartbeat.call(() -> map(at, size));
      slots.set(slot, known);
    }
    return known;
  }

  /** Called only by the thread that fills the slot. */
  private void reserve(long at, long size) throws IOException {
    synchronized (file) {
      check();
      file.seek(at);
      for (long done = 0; done < size; done += ZEROS.length) {
        file.write(ZEROS, 0, (int) Math.min(ZEROS.length, size - done));
      }
    }
  }

  private ByteBuffer map(long at, long bytes) throws IOException {
    check(); // Mapping past the file's end would extend it with zeros.
    return file.getChannel().map(MapMode.READ_WRITE, at, bytes).order(ByteOrder.nativeOrder());
  }

  static long pages(long bytes) {
    return bytes + PAGE - 1 & -PAGE;
  }

  /** Closes the file; mappings stay until they are garbage-collected. */
  @Override
  public void close() {
    synchronized (file) {
      Closeables.closeQuietly(file);
    }
  }
}
