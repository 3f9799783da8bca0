package io.coordl.library.declared;

import io.coordl.coordination.PreparedBatch;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.CannotShareException;
import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Serialises a batch of Java arrays and buffers, and of records that contain these. A batch read
 * back has the same classes, bits, buffer positions and null parts, and shares parts where the
 * original does. {@link JavaBatchReader} reads this format. Used by one thread.
 */
final class JavaBatch {
  // Each part begins with one of these bytes.
  static final byte NULL = 0;

  /** A repeated part, by its number. */
  static final byte SAME = 1;

  /** An array of numbers or booleans. */
  static final byte NUMBERS = 2;

  static final byte ELEMENTS = 3;
  static final byte RECORD = 4;

  /** A buffer with memory of its own. */
  static final byte DIRECT = 5;

  /** A buffer over an array. */
  static final byte WRAPPED = 6;

  /** Alignment of numbers, which may be longs. */
  static final int ALIGNMENT = Long.BYTES;

  private static final String ROLE = "batch";
  private static final int MAX_DEPTH = 32;
  private static final int MAX_DIRECT = 16;

  private final @Nullable ClassLoader loader;
  private final Object batch;
  private final long length;

  /** The number of each part, by identity. */
  private final IdentityHashMap<Object, Integer> parts;

  private final Set<Class<?>> records = new HashSet<>();
  private final List<Buffer> direct = new ArrayList<>();

  /**
   * Examines a batch.
   *
   * @param loader finds the program's classes by name
   * @throws CannotShareException if a part cannot be serialised; the message names it
   */
  JavaBatch(Object batch, @Nullable ClassLoader loader) throws CannotShareException {
    this.loader = loader;
    this.batch = batch;
    Writer counter = new Writer(null);
    counter.write(batch, 0);
    this.length = counter.at;
    this.parts = counter.numbers;
  }

  /** Whether objects of a class, or of a subclass, might be batches that can be serialised. */
  static boolean mayBe(Class<?> type) {
    Class<?> element = type;
    while (element.isArray()) {
      element = element.getComponentType();
    }
    return (element.isPrimitive() && type.isArray())
        || element.isInterface()
        || element == Object.class
        || Record.class.isAssignableFrom(element)
        || Buffer.class.isAssignableFrom(element);
  }

  /** Whether one of these objects is a part of the batch. */
  boolean hasAny(Iterable<?> objects) {
    for (Object object : objects) {
      if (parts.containsKey(object)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the size of the batch in bytes, without its layout. */
  long length() {
    return length;
  }

  /** Returns the classes of the records in the batch. */
  Set<Class<?>> records() {
    return records;
  }

  /**
   * Returns the batch as bytes; null if direct buffers may overlap.
   *
   * @param more additional parts of the layout, which have no values
   */
  @Nullable PreparedBatch bytes(List<BatchLayout.Array> more) {
    if (!Buffers.areApart(direct)) {
      return null;
    }
    List<BatchLayout.Array> all = new ArrayList<>();
    all.add(new BatchLayout.Array(ROLE, "", "", List.of(), length));
    all.addAll(more);
    BatchLayout layout = new BatchLayout(all);
    return new PreparedBatch() {
      @Override
      public long bytes() {
        return layout.bytes();
      }

      @Override
      public void writeTo(ByteBuffer target) {
        layout.writeTo(target);
        try {
          new Writer(layout.values(target, 0)).write(batch, 0);
        } catch (CannotShareException e) {
          throw new IllegalStateException(e); // Cannot happen: checked by the constructor.
        }
      }
    };
  }

  /**
   * Reads a batch from a layout and the bytes that {@link #bytes} wrote, without sharing their
   * memory.
   */
  static Object read(BatchLayout layout, ByteBuffer bytes, @Nullable ClassLoader loader) {
    return new JavaBatchReader(layout.values(bytes, 0), loader).batch();
  }

  /** Writes the parts, or counts their bytes if there is no target. */
  private final class Writer {
    private final @Nullable ByteBuffer to;
    private long at;
    private final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();
    private final Map<Class<?>, Integer> names = new HashMap<>();
    private final Set<Integer> open = new HashSet<>();

    Writer(@Nullable ByteBuffer to) {
      this.to = to;
    }

    private void write(@Nullable Object part, int depth) throws CannotShareException {
      if (part == null) {
        tag(NULL);
        return;
      }
      Integer known = numbers.get(part);
      if (known != null) {
        if (open.contains(known)) {
          throw new CannotShareException("an array that contains itself");
        }
        tag(SAME);
        number(known);
        return;
      } else if (depth == MAX_DEPTH) {
        throw new CannotShareException("arrays nested more than " + MAX_DEPTH + " deep");
      }
      Integer number = numbers.size();
      numbers.put(part, number);
      open.add(number);
      Class<?> type = part.getClass();
      if (part instanceof Object[] elements) {
        tag(ELEMENTS);
        name(type);
        number(elements.length);
        for (Object element : elements) {
          write(element, depth + 1);
        }
      } else if (type.isArray()) {
        ElementType kind = ElementType.of(type.getComponentType());
        tag(NUMBERS);
        tag(kind.code);
        int count = Array.getLength(part);
        number(count);
        align();
        if (to != null) {
          kind.write(part, to);
        }
        at += (long) count * kind.size;
      } else if (part instanceof Record) {
        record(part, type, depth);
      } else if (part instanceof Buffer buffer) {
        buffer(buffer, depth);
      } else {
        throw new CannotShareException(type.getName());
      }
      open.remove(number);
    }

    private void record(Object part, Class<?> type, int depth) throws CannotShareException {
      RecordParts components = RecordParts.of(type);
      if (!components.canBeMade()) {
        throw new CannotShareException(
            "records of class "
                + type.getName()
                + ", whose constructor does more than set the components");
      }
      records.add(type);
      tag(RECORD);
      name(type);
      for (int i = 0; i < components.count(); i++) {
        Object value = components.get(part, i);
        if (components.type(i).isPrimitive()) {
          bits(Objects.requireNonNull(value));
        } else {
          write(value, depth + 1);
        }
      }
    }

    private void buffer(Buffer buffer, int depth) throws CannotShareException {
      ElementType kind = ElementType.of(buffer);
      boolean wrapped = buffer.hasArray();
      if (!wrapped && !buffer.isDirect()) {
        throw new CannotShareException("buffers that expose neither an array nor direct memory");
      } else if (wrapped && buffer.array().getClass() != kind.array()) {
        throw new CannotShareException("buffers over an array of another type");
      }
      tag(wrapped ? WRAPPED : DIRECT);
      tag(kind.code);
      tag((byte) (Buffers.orderOf(buffer) == ByteOrder.BIG_ENDIAN ? 1 : 0));
      tag((byte) (buffer.isReadOnly() ? 1 : 0));
      number(buffer.capacity());
      number(buffer.position());
      number(buffer.limit());
      number(Buffers.markOf(buffer));
      if (wrapped) {
        number(buffer.arrayOffset());
        write(buffer.array(), depth + 1);
      } else {
        if (to == null) {
          direct.add(buffer);
          if (direct.size() > MAX_DIRECT) {
            throw new CannotShareException("more than " + MAX_DIRECT + " direct buffers");
          }
        }
        align();
        if (to != null) {
          kind.writeMemory(buffer, to);
        }
        at += (long) buffer.capacity() * kind.size;
      }
    }

    private void tag(byte value) {
      if (to != null) {
        to.put(value);
      }
      at++;
    }

    private void number(int value) {
      if (to != null) {
        to.putInt(value);
      }
      at += Integer.BYTES;
    }

    private void bits(Object value) {
      long bits =
          value instanceof Double one
              ? Double.doubleToRawLongBits(one)
              : value instanceof Float one
                  ? Float.floatToRawIntBits(one)
                  : value instanceof Boolean one
                      ? (one ? 1 : 0)
                      : value instanceof Character one ? one : ((Number) value).longValue();
      if (to != null) {
        to.putLong(bits);
      }
      at += Long.BYTES;
    }

    private void align() {
      long aligned = (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
      if (to != null) {
        to.position(Math.toIntExact(aligned));
      }
      at = aligned;
    }

    /**
     * Writes the name of a class, or its number if it was written before. The program's loader must
     * find the class by this name.
     */
    private void name(Class<?> type) throws CannotShareException {
      Integer known = names.putIfAbsent(type, names.size());
      number(known == null ? -1 : known);
      if (known == null) {
        if (to == null && !isFound(type)) {
          throw new CannotShareException(type.getName() + " of another class loader");
        }
        byte[] name = type.getName().getBytes(StandardCharsets.UTF_8);
        number(name.length);
        if (to != null) {
          to.put(name);
        }
        at += name.length;
      }
    }

    private boolean isFound(Class<?> type) {
      try {
        return Class.forName(type.getName(), false, loader) == type;
      } catch (ClassNotFoundException | LinkageError e) {
        return false;
      }
    }
  }
}
