package io.coordl.pipeline;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The byte layout of a batch: first a description of its arrays, then the values of each array at
 * an offset that is a multiple of {@link #ALIGNMENT}. Immutable.
 */
public final class BatchLayout {
  /** Alignment in bytes that native code expects of an array's first value. */
  public static final int ALIGNMENT = 64;

  private static final int MAX_ARRAYS = 1 << 16;

  private final List<Array> arrays;

  /**
   * The bytes before the values: the length of the array descriptions, then the descriptions. The
   * position of this buffer never changes.
   */
  private final ByteBuffer start;

  /** Offset of each array's values, and the end of the last array. */
  private final long[] offsets;

  /**
   * One array, in the library's terms.
   *
   * @param role its purpose in the batch, such as {@code data} or {@code labels}
   * @param type element type, and everything else that determines the meaning of the bytes
   * @param name empty if it has none
   * @param shape its dimensions
   * @param bytes size of its values in bytes
   */
  public record Array(String role, String type, String name, List<Long> shape, long bytes) {
    public Array {
      shape = List.copyOf(shape);
    }
  }

  public BatchLayout(List<Array> arrays) {
    this(arrays, header(arrays));
  }

  private BatchLayout(List<Array> arrays, byte[] header) {
    this.arrays = List.copyOf(arrays);
    this.start =
        ByteBuffer.allocate(Integer.BYTES + header.length)
            .order(ByteOrder.nativeOrder())
            .putInt(header.length)
            .put(header)
            .flip();
    this.offsets = new long[arrays.size() + 1];
    long at = start.capacity();
    for (int i = 0; i < arrays.size(); i++) {
      offsets[i] = (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
      at = offsets[i] + arrays.get(i).bytes();
    }
    offsets[arrays.size()] = at;
  }

  public List<Array> arrays() {
    return arrays;
  }

  /** Like {@link #read(ByteBuffer)}; {@code likely} is the expected layout, or null. */
  public static BatchLayout read(ByteBuffer batch, @Nullable BatchLayout likely)
      throws IOException {
    return likely != null && likely.isOf(batch) ? likely : read(batch);
  }

  private boolean isOf(ByteBuffer batch) {
    return batch.limit() >= bytes() && batch.slice(0, start.capacity()).equals(start);
  }

  /**
   * Reads the layout of bytes written by {@link #writeTo}.
   *
   * @param batch read from index 0; its position and limit do not change
   * @throws IOException if the bytes have another format or are incomplete
   */
  public static BatchLayout read(ByteBuffer batch) throws IOException {
    ByteBuffer bytes = batch.duplicate().order(ByteOrder.nativeOrder()).rewind();
    int length = bytes.remaining() < Integer.BYTES ? -1 : bytes.getInt();
    if (length < 0 || length > bytes.remaining()) {
      throw new IOException("a batch of " + bytes.capacity() + " bytes has no complete header");
    }
    byte[] header = new byte[length];
    bytes.get(header);
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(header));
    int count = in.readUnsignedShort();
    List<Array> arrays = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      String role = in.readUTF();
      String type = in.readUTF();
      String name = in.readUTF();
      List<Long> shape = new ArrayList<>();
      for (int dimensions = in.readUnsignedByte(); dimensions > 0; dimensions--) {
        shape.add(in.readLong());
      }
      arrays.add(new Array(role, type, name, shape, in.readLong()));
    }
    BatchLayout layout = new BatchLayout(arrays, header);
    if (layout.bytes() > batch.limit() || in.available() != 0) {
      throw new IOException("a batch of " + batch.limit() + " bytes does not match its header");
    }
    return layout;
  }

  /**
   * Whether these buffers have the sizes of {@code count} stacked samples of this layout: one
   * buffer for each array before the first without values.
   */
  public boolean isStackedAs(List<ByteBuffer> values, int count) {
    int at = 0;
    for (; at < arrays.size() && arrays.get(at).bytes() > 0; at++) {
      if (at == values.size() || values.get(at).remaining() != count * arrays.get(at).bytes()) {
        return false;
      }
    }
    return at == values.size();
  }

  /** Returns the total size in bytes, values included. */
  public long bytes() {
    return offsets[arrays.size()];
  }

  /** Writes the description at the start of {@code batch}; the caller writes the values. */
  public void writeTo(ByteBuffer batch) {
    batch.duplicate().rewind().put(start.duplicate());
  }

  /** Returns the values of one array: a slice of {@code batch}, in native order. */
  public ByteBuffer values(ByteBuffer batch, int array) {
    return batch
        .slice(Math.toIntExact(offsets[array]), Math.toIntExact(arrays.get(array).bytes()))
        .order(ByteOrder.nativeOrder());
  }

  private static byte[] header(List<Array> arrays) {
    if (arrays.size() >= MAX_ARRAYS) {
      throw new IllegalStateException(arrays.size() + " arrays in one batch");
    }
    ByteArrayOutputStream header = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(header)) {
      out.writeShort(arrays.size());
      for (Array array : arrays) {
        out.writeUTF(array.role());
        out.writeUTF(array.type());
        out.writeUTF(array.name());
        out.writeByte(array.shape().size());
        for (long dimension : array.shape()) {
          out.writeLong(dimension);
        }
        out.writeLong(array.bytes());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // A string of more than 65,535 bytes.
    }
    return header.toByteArray();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other || (other instanceof BatchLayout that && arrays.equals(that.arrays));
  }

  @Override
  public int hashCode() {
    return arrays.hashCode();
  }
}
