package io.coordl.library.declared;

import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;

/** The element types of arrays and buffers, and how their bits are copied. */
enum ElementType {
  BOOLEANS(boolean.class, 'Z', 1),
  BYTES(byte.class, 'B', Byte.BYTES),
  SHORTS(short.class, 'S', Short.BYTES),
  CHARS(char.class, 'C', Character.BYTES),
  INTS(int.class, 'I', Integer.BYTES),
  FLOATS(float.class, 'F', Float.BYTES),
  LONGS(long.class, 'J', Long.BYTES),
  DOUBLES(double.class, 'D', Double.BYTES);

  private final Class<?> element;

  /** Its letter in a descriptor. */
  final byte code;

  /** Size of an element in bytes. */
  final int size;

  ElementType(Class<?> element, char code, int size) {
    this.element = element;
    this.code = (byte) code;
    this.size = size;
  }

  static ElementType of(byte code) {
    for (ElementType type : values()) {
      if (type.code == code) {
        return type;
      }
    }
    throw new IllegalArgumentException("type " + code);
  }

  /** Returns the constant of a primitive element type. */
  static ElementType of(Class<?> element) {
    for (ElementType type : values()) {
      if (type.element == element) {
        return type;
      }
    }
    throw new IllegalArgumentException(element.getName());
  }

  static ElementType of(Buffer buffer) {
    return buffer instanceof ByteBuffer
        ? BYTES
        : buffer instanceof ShortBuffer
            ? SHORTS
            : buffer instanceof CharBuffer
                ? CHARS
                : buffer instanceof IntBuffer
                    ? INTS
                    : buffer instanceof FloatBuffer
                        ? FLOATS
                        : buffer instanceof LongBuffer ? LONGS : DOUBLES;
  }

  /** Returns the class of arrays of such elements. */
  Class<?> array() {
    return element.arrayType();
  }

  /** Whether two arrays of such elements have the same length and bits. */
  boolean areSame(Object one, Object two) {
    return switch (this) {
      case BOOLEANS -> Arrays.equals((boolean[]) one, (boolean[]) two);
      case BYTES -> Arrays.equals((byte[]) one, (byte[]) two);
      case SHORTS -> Arrays.equals((short[]) one, (short[]) two);
      case CHARS -> Arrays.equals((char[]) one, (char[]) two);
      case INTS -> Arrays.equals((int[]) one, (int[]) two);
      case LONGS -> Arrays.equals((long[]) one, (long[]) two);
      default ->
          Array.getLength(one) == Array.getLength(two)
              && bytes(one).equals(bytes(two)); // NaNs with other bits differ, too.
    };
  }

  private ByteBuffer bytes(Object array) {
    ByteBuffer bytes =
        ByteBuffer.allocate(Array.getLength(array) * size).order(ByteOrder.nativeOrder());
    write(array, bytes);
    return bytes.flip();
  }

  /** Writes the elements of an array, and moves {@code to} past them. */
  void write(Object array, ByteBuffer to) {
    int start = to.position();
    int length;
    switch (this) {
      case BOOLEANS -> {
        boolean[] flags = (boolean[]) array;
        length = flags.length;
        for (int i = 0; i < length; i++) {
          to.put(start + i, (byte) (flags[i] ? 1 : 0));
        }
      }
      case BYTES -> {
        length = ((byte[]) array).length;
        to.put(start, (byte[]) array);
      }
      case SHORTS -> {
        length = ((short[]) array).length;
        to.asShortBuffer().put((short[]) array);
      }
      case CHARS -> {
        length = ((char[]) array).length;
        to.asCharBuffer().put((char[]) array);
      }
      case INTS -> {
        length = ((int[]) array).length;
        to.asIntBuffer().put((int[]) array);
      }
      case FLOATS -> {
        length = ((float[]) array).length;
        to.asFloatBuffer().put((float[]) array);
      }
      case LONGS -> {
        length = ((long[]) array).length;
        to.asLongBuffer().put((long[]) array);
      }
      default -> {
        length = ((double[]) array).length;
        to.asDoubleBuffer().put((double[]) array);
      }
    }
    to.position(start + length * size);
  }

  /** Reads an array that {@link #write} wrote; moves {@code from} past it. */
  Object read(int length, ByteBuffer from) {
    int start = from.position();
    Object array;
    switch (this) {
      case BOOLEANS -> {
        boolean[] flags = new boolean[length];
        for (int i = 0; i < length; i++) {
          flags[i] = from.get(start + i) != 0;
        }
        array = flags;
      }
      case BYTES -> {
        byte[] bytes = new byte[length];
        from.get(start, bytes);
        array = bytes;
      }
      case SHORTS -> {
        short[] shorts = new short[length];
        from.asShortBuffer().get(shorts);
        array = shorts;
      }
      case CHARS -> {
        char[] chars = new char[length];
        from.asCharBuffer().get(chars);
        array = chars;
      }
      case INTS -> {
        int[] ints = new int[length];
        from.asIntBuffer().get(ints);
        array = ints;
      }
      case FLOATS -> {
        float[] floats = new float[length];
        from.asFloatBuffer().get(floats);
        array = floats;
      }
      case LONGS -> {
        long[] longs = new long[length];
        from.asLongBuffer().get(longs);
        array = longs;
      }
      default -> {
        double[] doubles = new double[length];
        from.asDoubleBuffer().get(doubles);
        array = doubles;
      }
    }
    from.position(start + length * size);
    return array;
  }

  /** Copies the whole memory of a direct buffer, and moves {@code to} past it. */
  void writeMemory(Buffer buffer, ByteBuffer to) {
    // A view of the same byte order is copied as memory instead of number by number.
    ByteBuffer target =
        to.slice(to.position(), buffer.capacity() * size).order(Buffers.orderOf(buffer));
    Buffer all = buffer.duplicate().clear();
    switch (this) {
      case SHORTS -> target.asShortBuffer().put((ShortBuffer) all);
      case CHARS -> target.asCharBuffer().put((CharBuffer) all);
      case INTS -> target.asIntBuffer().put((IntBuffer) all);
      case FLOATS -> target.asFloatBuffer().put((FloatBuffer) all);
      case LONGS -> target.asLongBuffer().put((LongBuffer) all);
      case DOUBLES -> target.asDoubleBuffer().put((DoubleBuffer) all);
      default -> target.put((ByteBuffer) all);
    }
    to.position(to.position() + target.capacity());
  }

  /**
   * Reads a new direct buffer with the memory that {@link #writeMemory} wrote; moves {@code from}
   * past it.
   */
  Buffer readMemory(int capacity, ByteOrder order, ByteBuffer from) {
    int start = from.position();
    ByteBuffer memory = ByteBuffer.allocateDirect(capacity * size).order(order);
    memory.put(0, from, start, capacity * size);
    from.position(start + capacity * size);
    return switch (this) {
      case SHORTS -> memory.asShortBuffer();
      case CHARS -> memory.asCharBuffer();
      case INTS -> memory.asIntBuffer();
      case FLOATS -> memory.asFloatBuffer();
      case LONGS -> memory.asLongBuffer();
      case DOUBLES -> memory.asDoubleBuffer();
      default -> memory;
    };
  }

  /** Returns a read-only view of the buffer with the same byte order. */
  Buffer readOnly(Buffer buffer) {
    return switch (this) {
      case SHORTS -> ((ShortBuffer) buffer).asReadOnlyBuffer();
      case CHARS -> ((CharBuffer) buffer).asReadOnlyBuffer();
      case INTS -> ((IntBuffer) buffer).asReadOnlyBuffer();
      case FLOATS -> ((FloatBuffer) buffer).asReadOnlyBuffer();
      case LONGS -> ((LongBuffer) buffer).asReadOnlyBuffer();
      case DOUBLES -> ((DoubleBuffer) buffer).asReadOnlyBuffer();
      default -> ((ByteBuffer) buffer).asReadOnlyBuffer().order(Buffers.orderOf(buffer));
    };
  }

  /** Returns a buffer over a part of an array. */
  Buffer wrap(Object array, int offset, int capacity, ByteOrder order) {
    Buffer whole =
        switch (this) {
          case SHORTS -> ShortBuffer.wrap((short[]) array);
          case CHARS -> CharBuffer.wrap((char[]) array);
          case INTS -> IntBuffer.wrap((int[]) array);
          case FLOATS -> FloatBuffer.wrap((float[]) array);
          case LONGS -> LongBuffer.wrap((long[]) array);
          case DOUBLES -> DoubleBuffer.wrap((double[]) array);
          default -> ByteBuffer.wrap((byte[]) array);
        };
    Buffer part = whole.position(offset).limit(offset + capacity).slice();
    return part instanceof ByteBuffer bytes ? bytes.order(order) : part;
  }
}
